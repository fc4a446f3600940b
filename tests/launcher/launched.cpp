#include "launched.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFinishLimit = std::chrono::seconds(60);
constexpr auto kTextLimit = std::chrono::seconds(10);
constexpr auto kGoneLimit = std::chrono::seconds(5);
constexpr unsigned kNobody = 65534;

std::string new_mark() {
  static int count = 0;
  return "CLUSTER_TEST_MARK=" + std::to_string(::getpid()) + "." + std::to_string(++count);
}

// Empty when the process has gone; a stream would throw when that happens between open and read.
std::string read_file(const std::string& path) {
  std::string text;
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char part[4096];
  for (ssize_t got; fd >= 0 && (got = ::read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  if (fd >= 0) ::close(fd);
  return text;
}

bool is_alive(const std::string& pid) {
  std::string text = read_file("/proc/" + pid + "/stat");
  std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] != 'Z';
}

[[noreturn]] void become(std::vector<std::string> command, const Launched::Options& options,
                         const std::string& mark, const int (&ends)[3]) {
  for (int i = 0; i < 3; ++i) ::dup2(ends[i], i);
  ::signal(SIGPIPE, SIG_DFL);
  for (const std::string& variable : options.environment) {
    std::size_t equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  std::size_t equals = mark.find('=');
  ::setenv(mark.substr(0, equals).c_str(), mark.substr(equals + 1).c_str(), 1);
  if (options.as_nobody &&
      (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
    ::_exit(99);
  }
  if (options.before_exec) options.before_exec();
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(98);
}

}  // namespace

const char* const kTerrane = TERRANE_BINARY;
const char* const kNodeProgram = NODE_BINARY;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Outcome run_until_said(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& sentences) {
  base::TestFolder folder;
  std::string heard = folder / "heard";
  std::string line = "exec ";
  line.append(kTerrane).append(" run");
  for (const std::string& argument : arguments) line += " " + argument;
  Launched::Options options;
  options.environment = {"HEARD=" + heard};
  Launched job({"sh", "-c", line + " 2>&1"}, options);
  for (const std::string& sentence : sentences)
    EXPECT_TRUE(job.wait_for(sentence)) << sentence << "\n" << job.out();
  std::ofstream{heard};
  Outcome outcome = job.finish();
  return outcome;
}

bool is_root() { return ::geteuid() == 0; }

Launched::Launched(std::vector<std::string> command, Options options) : mark_(new_mark()) {
  int in[2], out[2], err[2];
  if (::pipe2(in, O_CLOEXEC) < 0 || ::pipe2(out, O_CLOEXEC) < 0 || ::pipe2(err, O_CLOEXEC) < 0) {
    std::abort();
  }
  pid_ = ::fork();
  if (pid_ == 0) become(std::move(command), options, mark_, {in[0], out[1], err[1]});
  for (int fd : {in[0], out[1], err[1]}) ::close(fd);
  input_ = in[1];
  out_ = out[0];
  err_ = err[0];
  ::signal(SIGPIPE, SIG_IGN);
  if (!options.input.empty()) {
    [[maybe_unused]] auto ignored = ::write(input_, options.input.data(), options.input.size());
  }
  if (!options.keep_input_open) {
    ::close(input_);
    input_ = -1;
  }
}

Launched::~Launched() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (pid_t pid : marked_processes()) ::kill(pid, SIGKILL);
  close_all();
}

void Launched::close_all() {
  for (int* fd : {&out_, &err_, &input_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

void Launched::read_some(int timeout_ms) {
  pollfd ready[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (::poll(ready, 2, timeout_ms) <= 0) return;
  char text[65536];
  for (int i = 0; i < 2; ++i) {
    if (!ready[i].revents) continue;
    int& fd = i == 0 ? out_ : err_;
    ssize_t got = ::read(fd, text, sizeof text);
    if (got > 0) (i == 0 ? outcome_.out : outcome_.err).append(text, static_cast<std::size_t>(got));
    if (got == 0) {
      ::close(fd);
      fd = -1;
    }
  }
}

Outcome Launched::finish() {
  auto deadline = Clock::now() + kFinishLimit;
  while ((out_ >= 0 || err_ >= 0) && Clock::now() < deadline) read_some(100);
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) {
      outcome_.timed_out = true;
      return outcome_;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = -1;
  outcome_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome_.timed_out = out_ >= 0 || err_ >= 0;
  return outcome_;
}

bool Launched::wait_for(const std::string& text, int times) {
  auto deadline = Clock::now() + kTextLimit;
  for (;;) {
    if (count(outcome_.out, text) + count(outcome_.err, text) >= times) return true;
    if ((out_ < 0 && err_ < 0) || Clock::now() >= deadline) return false;
    read_some(100);
  }
}

std::vector<pid_t> Launched::marked_processes() const {
  std::vector<pid_t> found;
  DIR* folder = ::opendir("/proc");
  while (const dirent* entry = folder ? ::readdir(folder) : nullptr) {
    std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::stol(pid) == pid_ || std::stol(pid) == ::getpid()) continue;
    std::string text = read_file("/proc/" + pid + "/environ");
    if (text.find(mark_ + '\0') != std::string::npos && is_alive(pid)) {
      found.push_back(static_cast<pid_t>(std::stol(pid)));
    }
  }
  if (folder) ::closedir(folder);
  return found;
}

int Launched::ms_until_all_gone() const {
  auto start = Clock::now();
  while (!marked_processes().empty()) {
    if (Clock::now() - start > kGoneLimit) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  return static_cast<int>(took.count());
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<std::string> run_nodes(const std::string& options, const std::string& actions) {
  std::vector<std::string> command = words("run");
  command.emplace(command.begin(), kTerrane);
  for (const std::string& word : words(options)) command.push_back(word);
  command.emplace_back(kNodeProgram);
  for (const std::string& word : words(actions)) command.push_back(word);
  return command;
}

Outcome run(const std::string& options, const std::string& actions,
            Launched::Options launch_options) {
  return Launched(run_nodes(options, actions), std::move(launch_options)).finish();
}

}  // namespace terrane::cluster_test
