#include "tools/launch/host/guard.h"

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
#include "bootstrap/message.h"
#include "bootstrap/packet.h"
#include "platform/process_limits.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/forwarded_signals.h"
#include "tools/launch/host/process_tree.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/hub/death.h"
#include "tools/launch/loop.h"
#include "tools/launch/output/terminal_input.h"

namespace terrane::tools {
namespace {

using base::UniqueFd;

constexpr std::uint64_t kPatienceMs = 2000;
constexpr int kEngineNice = -10;
constexpr char kEngineTitle[] = "job-engine";

// Nothing of ours may take the number where a node expects its standard input, output or error.
// What is closed stays so to the program: reading or writing fails with EBADF.
void fill_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    int opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != fd) ::close(opened);
  }
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
  // On a busy machine the engine still gets a processor for its heartbeats, where we are permitted
  // to have it so.
  before.nice = ::getpriority(PRIO_PROCESS, 0);
  if (before.nice > kEngineNice) ::setpriority(PRIO_PROCESS, 0, kEngineNice);
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

[[noreturn]] void become_engine(const GuardOptions& options, EngineSide side,
                                const std::function<int(EngineSide)>& engine) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  change_title(options.command_line);
  ::_exit(engine(std::move(side)));
}

// The process above, while the engine runs.
class Guard {
 public:
  Guard(pid_t engine, UniqueFd socket, UniqueFd terminal, std::uint64_t heartbeat_ms)
      : engine_(engine),
        socket_(std::move(socket)),
        terminal_(std::move(terminal)),
        heartbeat_ms_(heartbeat_ms),
        moving_(1, std::max<std::uint64_t>(heartbeat_ms, 1)) {}

  int run() {
    sigset_t watched = forwarded_signals();
    UniqueFd signals(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    UniqueFd engine(open_pidfd(engine_));
    if (!signals || !engine) {
      base::log("{}", base::errno_error("cannot watch the job's engine (pidfd_open; in a container "
                                        "allow the system call: docker run --security-opt "
                                        "seccomp=unconfined)")
                          .message);
      return give_up();
    }
    moving_.expect(0, now_ms());
    for (;;) {
      pollfd ready[4] = {{engine.get(), POLLIN, 0},
                         {signals.get(), POLLIN, 0},
                         terminal_.wanted(),
                         {socket_.get(), POLLIN, 0}};
      int wait_ms = heartbeat_ms_ == 0 ? -1 : static_cast<int>(moving_.period_ms());
      int count = ::poll(ready, 4, wait_ms);
      if (heartbeat_ms_ != 0 && engine_is_stopped()) return give_up();
      if (count < 0) continue;
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

  bool engine_is_stopped() {
    std::uint64_t now = now_ms();
    if (!is_stopped(engine_)) moving_.heard(0, now);
    if (moving_.look(now).empty()) return false;
    base::log(
        "the engine of this job (process {}) has been stopped for {:.1f} s; every node of the job "
        "is "
        "being ended",
        engine_, static_cast<double>(heartbeat_ms_) / 1000);
    return true;
  }

  int engine_ended() {
    int status = 0;
    ::waitpid(engine_, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    base::log(
        "the engine of this job (process {}) was killed by {}; every node of the job is being "
        "ended",
        engine_, signal_name(WTERMSIG(status)));
    kill_all_descendants(kPatienceMs);
    return kExitSignalBase + WTERMSIG(status);
  }

  int give_up() {
    ::kill(engine_, SIGKILL);
    kill_all_descendants(kPatienceMs);
    return kExitFailure;
  }

  pid_t engine_;
  UniqueFd socket_;
  TerminalInput terminal_;
  std::uint64_t heartbeat_ms_;
  Vigil moving_;
  bootstrap::PacketReader reader_;
  std::vector<UniqueFd> lifelines_;
};

}  // namespace

int run_guarded(const GuardOptions& options, const std::function<int(EngineSide)>& engine) {
  Inheritance inheritance = prepare_process();
  int pair[2], typed[2] = {-1, -1};
  bool terminal = options.passes_input && ::isatty(STDIN_FILENO);
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
      (terminal && ::pipe2(typed, O_CLOEXEC) < 0)) {
    base::log("{}", base::errno_error("cannot start the job's engine").message);
    return kExitFailure;
  }
  UniqueFd ours(pair[0]), engines(pair[1]), typed_out(typed[1]);
  UniqueFd input(typed[0]);
  if (options.passes_input && !terminal) input.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  pid_t child = ::fork();
  if (child < 0) {
    int why = errno;
    base::log("cannot start the job's engine: {}; {}", std::strerror(why),
              platform::why_no_thread(why));
    return kExitFailure;
  }
  if (child == 0) {
    ours.reset();
    typed_out.reset();
    become_engine(options, {&inheritance, std::move(engines), std::move(input)}, engine);
  }
  engines.reset();
  input.reset();
  if (typed_out) ::fcntl(typed_out.get(), F_SETFL, O_NONBLOCK);
  return Guard(child, std::move(ours), std::move(typed_out), options.heartbeat_ms).run();
}

}  // namespace terrane::tools
