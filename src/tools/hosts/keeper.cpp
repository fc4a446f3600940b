#include "tools/hosts/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/hosts/network.h"
#include "tools/hosts/places.h"

namespace terrane::test_hosts {
namespace {

using base::errno_error;
using base::Result;

constexpr int kClientPatienceS = 2;  // a client sends its request as soon as it has connected

// What a shell started by a login from another host finds.
std::vector<std::string> login_environment() {
  const char* home = std::getenv("HOME");
  const char* user = std::getenv("USER");
  return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
          std::string("HOME=") + (home ? home : "/"), std::string("USER=") + (user ? user : "root"),
          std::string("LOGNAME=") + (user ? user : "root"), "SHELL=/bin/sh"};
}

Request by_shell(Request request) {
  std::string line;
  for (const std::string& word : request.words) line += (line.empty() ? "" : " ") + word;
  request.words = {"/bin/sh", "-c", line};
  request.environment = login_environment();
  const char* home = std::getenv("HOME");
  request.folder = home ? home : "/";
  return request;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void become(Message message) {
  bool login = message.request.kind == Request::Kind::kRunByShell;
  if (login) {
    ::setsid();
    message.request = by_shell(std::move(message.request));
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int i = 0; i < 3; ++i) ::dup2(message.fds[static_cast<std::size_t>(i)].get(), i);
  Request& request = message.request;
  if (::chdir(request.folder.c_str()) < 0 && ::chdir("/") < 0) ::_exit(126);
  std::vector<char*> words = pointers(request.words), environment = pointers(request.environment);
  environ = environment.data();
  ::execvp(words[0], words.data());
  std::string sentence = fmt::format("{}: {}\n", words[0], std::strerror(errno));
  [[maybe_unused]] ssize_t ignored = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(errno == ENOENT ? 127 : 126);
}

}  // namespace

int Keeper::run() {
  ::prctl(PR_SET_NAME, host_name(host_).c_str());
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);  // a terminal's interrupts are for the commands
  if (!make_host()) return 1;
  serve();
  return 0;
}

// In step with the switch: namespaces are there; it puts interfaces into them; they are configured.
bool Keeper::make_host() {
  auto made = memory_.enter(host_);
  if (made) made = make_places(options_, host_);
  if (!made) {
    send_text(channel_.get(), made.error().message);
    return false;
  }
  send_text(channel_.get(), "placed");
  if (receive_text(channel_.get(), -1) != "connected") return false;
  auto ready = make_interfaces(options_, host_);
  if (ready) ready = listen();
  send_text(channel_.get(), ready ? "ready" : ready.error().message);
  return ready.ok();
}

Result<> Keeper::listen() {
  listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, kKeeperName.data(), kKeeperName.size());
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kKeeperName.size());
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  children_.reset(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!listener_ || !children_ ||
      ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) < 0 ||
      ::listen(listener_.get(), 64) < 0) {
    return errno_error("a test host cannot take requests");
  }
  return {};
}

void Keeper::serve() {
  for (;;) {
    std::vector<pollfd> ready{
        {channel_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}, {children_.get(), POLLIN, 0}};
    for (const Command& command : commands_) ready.push_back({command.answer.get(), 0, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      if (ready[3 + i].revents == 0) continue;
      if (commands_[i].attached) ::kill(commands_[i].pid, SIGKILL);
      commands_[i].answer.reset();
    }
    if (ready[2].revents) reap();
    if (ready[1].revents) accept_client();
    if (ready[0].revents & POLLHUP) return;
    if (ready[0].revents) take_request(channel_.get());
  }
}

void Keeper::take_request(int socket) {
  auto message = receive_request(socket);
  if (!message) return;
  start(std::move(message).value());
}

void Keeper::accept_client() {
  UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  timeval patience{kClientPatienceS, 0};
  if (!client) return;
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  auto received = receive_request(client.get());
  if (!received) return;
  Message message = std::move(received).value();
  message.fds.push_back(std::move(client));
  bool runs = message.request.kind == Request::Kind::kRun ||
              message.request.kind == Request::Kind::kRunByShell;
  if (runs && message.request.host == host_name(host_)) {
    start(std::move(message));
    return;
  }
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  auto sent = send_request(channel_.get(), message.request, fds);
  if (!sent) send_text(fds.back(), sent.error().message);
}

void Keeper::start(Message message) {
  if (message.fds.size() != 4 || message.request.words.empty()) {
    if (!message.fds.empty()) send_text(message.fds.back().get(), "there is no command to run");
    return;
  }
  bool attached = message.request.kind == Request::Kind::kRun;
  pid_t pid = ::fork();
  if (pid == 0) become(std::move(message));
  UniqueFd answer = std::move(message.fds.back());
  if (pid < 0) {
    send_text(answer.get(), errno_error("a test host cannot start a process").message);
    return;
  }
  commands_.push_back({pid, std::move(answer), attached});
}

void Keeper::reap() {
  signalfd_siginfo info;
  while (::read(children_.get(), &info, sizeof info) == sizeof info) continue;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    auto command = std::find_if(commands_.begin(), commands_.end(),
                                [pid](const Command& one) { return one.pid == pid; });
    if (command == commands_.end()) continue;
    if (command->answer) send_text(command->answer.get(), fmt::format("exit {}", code));
    commands_.erase(command);
  }
}

}  // namespace terrane::test_hosts
