#include "tools/launch/front.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "base/unique_fd.h"
#include "bootstrap/message.h"
#include "bootstrap/packet.h"
#include "tools/launch/death.h"
#include "tools/launch/forwarded_signals.h"
#include "tools/launch/local_engine.h"
#include "tools/launch/process_tree.h"
#include "tools/launch/terminal_input.h"

namespace terrane::tools {
namespace {

using base::UniqueFd;

constexpr std::uint64_t kPatienceMs = 2000;
constexpr char kEngineTitle[] = "job-engine";

// Nothing of ours may come to stand where a node expects its standard input, output or error.
void fill_standard_descriptors() {
  int fd;
  do {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO && ::fcntl(fd, F_SETFD, 0) == 0);
  if (fd > STDERR_FILENO) ::close(fd);
}

// Started inside a job, as a node's program: our nodes belong to our job and to no other.
void forget_outer_job() {
  if (const char* text = std::getenv(bootstrap::kSocketVariable)) {
    int fd = std::atoi(text);
    if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  for (const char* name : {bootstrap::kSocketVariable, bootstrap::kNodeVariable,
                           bootstrap::kNodesVariable, bootstrap::kJobVariable}) {
    ::unsetenv(name);
  }
}

Inheritance prepare_process() {
  fill_standard_descriptors();
  forget_outer_job();
  Inheritance before{};
  ::signal(SIGCHLD, SIG_DFL);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before.on_broken_pipe);
  sigset_t blocked = forwarded_signals();
  for (int signal : {SIGCHLD, SIGTTOU, SIGTTIN}) ::sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, &before.signal_mask);
  ::getrlimit(RLIMIT_NOFILE, &before.files);
  rlimit raised{before.files.rlim_max, before.files.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return before;
}

// Under another title, so that `pkill terrane` ends the front alone and the engine is there to
// clean up after it.
void change_title(std::span<char*> command_line) {
  ::prctl(PR_SET_NAME, kEngineTitle);
  if (command_line.empty()) return;
  char* begin = command_line.front();
  char* end = command_line.back() + std::strlen(command_line.back());
  std::memset(begin, 0, static_cast<std::size_t>(end - begin));
  std::strncpy(begin, kEngineTitle, static_cast<std::size_t>(end - begin));
}

[[noreturn]] void become_engine(const JobPlan& plan, const Inheritance& inheritance, UniqueFd front,
                                UniqueFd input) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  change_title(plan.command_line);
  int code = LocalEngine(plan, inheritance, std::move(front), std::move(input)).run();
  ::_exit(code);
}

// The process that the user sees, while the engine runs.
class Front {
 public:
  Front(pid_t engine, UniqueFd socket, UniqueFd terminal)
      : engine_(engine), socket_(std::move(socket)), terminal_(std::move(terminal)) {}

  int run() {
    sigset_t watched = forwarded_signals();
    UniqueFd signals(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    UniqueFd engine(open_pidfd(engine_));
    if (!signals || !engine) {
      base::log("{}", base::errno_error("cannot watch the job's engine").message);
      return give_up();
    }
    for (;;) {
      pollfd ready[4] = {{engine.get(), POLLIN, 0},
                         {signals.get(), POLLIN, 0},
                         terminal_.wanted(),
                         {socket_.get(), POLLIN, 0}};
      if (::poll(ready, 4, -1) < 0) continue;
      if (ready[1].revents) pass_on(signals.get());
      if (ready[2].revents) terminal_.move();
      if (ready[3].revents) take_lifeline();
      if (ready[0].revents) return engine_ended();
    }
  }

 private:
  void pass_on(int signals) {
    signalfd_siginfo info;
    while (::read(signals, &info, sizeof info) == sizeof info) {
      int signal = static_cast<int>(info.ssi_signo);
      ::send(socket_.get(), &signal, sizeof signal, MSG_NOSIGNAL);
      if (signal == SIGTSTP) ::raise(SIGSTOP);
    }
  }

  // The kernel kills a node whose lifeline ends, and with us they all end.
  void take_lifeline() {
    auto status = reader_.receive(socket_.get(), MSG_DONTWAIT);
    if (status == bootstrap::PacketStatus::kClosed) socket_.reset();
    for (UniqueFd& fd : reader_.fds()) lifelines_.push_back(std::move(fd));
    reader_.fds().clear();
  }

  int engine_ended() {
    int status = 0;
    ::waitpid(engine_, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    base::log(
        "the engine of this job (process {}) was killed by {}; every node of the job is being "
        "ended",
        engine_, signal_name(WTERMSIG(status)));
    kill_all_descendants(0, kPatienceMs);
    return kExitSignalBase + WTERMSIG(status);
  }

  int give_up() {
    ::kill(engine_, SIGKILL);
    kill_all_descendants(0, kPatienceMs);
    return kExitFailure;
  }

  pid_t engine_;
  UniqueFd socket_;
  TerminalInput terminal_;
  bootstrap::PacketReader reader_;
  std::vector<UniqueFd> lifelines_;
};

}  // namespace

int run_job(const JobPlan& plan) {
  Inheritance inheritance = prepare_process();
  int pair[2], typed[2] = {-1, -1};
  bool terminal = ::isatty(STDIN_FILENO);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
      (terminal && ::pipe2(typed, O_CLOEXEC) < 0)) {
    base::log("{}", base::errno_error("cannot start the job's engine").message);
    return kExitFailure;
  }
  UniqueFd ours(pair[0]), engines(pair[1]), typed_out(typed[1]);
  UniqueFd input(terminal ? typed[0] : ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  pid_t engine = ::fork();
  if (engine < 0) {
    base::log("{}", base::errno_error("cannot start the job's engine").message);
    return kExitFailure;
  }
  if (engine == 0) {
    ours.reset();
    typed_out.reset();
    become_engine(plan, inheritance, std::move(engines), std::move(input));
  }
  engines.reset();
  input.reset();
  if (typed_out) ::fcntl(typed_out.get(), F_SETFL, O_NONBLOCK);
  return Front(engine, std::move(ours), std::move(typed_out)).run();
}

}  // namespace terrane::tools
