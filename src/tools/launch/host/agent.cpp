#include "tools/launch/host/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/launch/exit_codes.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxSaid = 16 * 1024;
constexpr std::uint32_t kReadOn = 64 * 1024;

[[noreturn]] void become_agent(const AgentCommand& command, const Inheritance& inheritance,
                               pid_t parent, int input, int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kExitFailure);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  for (const auto& [name, value] : command.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  restore(inheritance);
  ::signal(SIGPIPE, SIG_DFL);
  std::vector<char*> argv;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::string why = fmt::format("{}: {}\n", argv[0], std::strerror(errno));
  [[maybe_unused]] auto ignored = ::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(kExitAgentMissing);
}

}  // namespace

base::Result<std::unique_ptr<Agent>> Agent::start(Loop& loop, Children& children,
                                                  const Inheritance& inheritance,
                                                  AgentCommand command,
                                                  std::function<void(int)> on_end) {
  std::unique_ptr<Agent> agent(new Agent(loop, std::move(command), std::move(on_end)));
  if (auto spawned = agent->spawn(children, inheritance); !spawned) return spawned.error();
  return agent;
}

base::Result<> Agent::spawn(Children& children, const Inheritance& inheritance) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) < 0) return base::errno_error("cannot make a pipe");
  base::UniqueFd in_read(in[0]), in_write(in[1]);
  if (::pipe2(out, O_CLOEXEC) < 0) return base::errno_error("cannot make a pipe");
  base::UniqueFd out_read(out[0]), out_write(out[1]);
  pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) {
    pid_ = 0;
    return base::errno_error(fmt::format("cannot start {}", command_.argv[0]));
  }
  if (pid_ == 0) become_agent(command_, inheritance, parent, in_read.get(), out_write.get());
  ::setpgid(pid_, pid_);
  children.expect(pid_, [this](int status) { ended(status); });
  reader_ = std::make_unique<StreamReader>(
      loop_, std::move(out_read),
      StreamReader::Handlers{.on_bytes =
                                 [this](std::string bytes) {
                                   said_ += bytes;
                                   if (said_.size() > kMaxSaid) {
                                     said_.erase(0, said_.size() - kMaxSaid);
                                   }
                                   reader_->allow(static_cast<std::uint32_t>(bytes.size()));
                                 },
                             .on_end =
                                 [this] {
                                   if (reaped_) on_end_(status_);
                                 }});
  reader_->allow(kReadOn);
  writer_ = std::make_unique<StreamWriter>(
      loop_, std::move(in_write),
      StreamWriter::Handlers{.on_taken = [](std::uint32_t) {}, .on_broken = [] {}});
  writer_->write(command_.input);
  return {};
}

// What it wrote last is read first; a process that it left behind may hold the pipe open.
void Agent::ended(int status) {
  pid_ = 0;
  status_ = status;
  reaped_ = true;
  if (reader_->ended()) return on_end_(status_);
  reader_->drain();
}

void Agent::signal(int number) {
  if (pid_ != 0) ::kill(-pid_, number);
}

}  // namespace terrane::tools
