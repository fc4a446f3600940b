#include "tools/hosts/switch.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tools/hosts/keeper.h"
#include "tools/hosts/network.h"

namespace terrane::test_hosts {
namespace {

using base::errno_error;
using base::error;
using base::Result;

constexpr int kPatienceMs = 20'000;  // for a step of a keeper, on a busy machine

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// Root of a namespace of users of its own: a user that may not make namespaces may make them there.
Result<> become_root() {
  uid_t user = ::geteuid();
  gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) < 0) return errno_error("user namespaces are not permitted here");
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)) ||
      !write_file("/proc/self/gid_map", fmt::format("0 {} 1", group))) {
    return error("a user namespace cannot be set up here");
  }
  return {};
}

Result<> make_namespaces() {
  constexpr int kWanted = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS;
  if (::geteuid() == 0 && ::unshare(kWanted) == 0) return {};
  if (auto root = become_root(); !root) return root;
  if (::unshare(kWanted) < 0) return errno_error("namespaces are not permitted here");
  return {};
}

// Processes by the numbers that they have here: `ip` of iproute2 6.15 finds the namespace of a
// process there, and not by the kernel's own look-up.
Result<> mount_processes() {
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0 ||
      ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) < 0)
    return errno_error("/proc of the test hosts cannot be mounted");
  return {};
}

// A terminal's interrupts are for the command; the others are taken by wait_for_switch().
void block_signals() {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (int signal : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTERM, SIGCHLD})
    ::sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
}

// Its status as of waitpid(). SIGTERM says that our owner has ended: the switch is to end, too.
int wait_for_switch(pid_t pid) {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (int signal : {SIGTERM, SIGCHLD}) ::sigaddset(&awaited, signal);
  for (int status = 0;;) {
    if (::waitpid(pid, &status, WNOHANG) == pid) return status;
    if (::sigwaitinfo(&awaited, nullptr) == SIGTERM) ::kill(pid, SIGKILL);
  }
}

void leave_standard_descriptors() {
  UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int i = 0; i < 3; ++i) ::dup2(nothing.get(), i);
}

}  // namespace

int Switch::run_in_namespaces(const HostOptions& options, UniqueFd control) {
  ::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  auto memory = MemoryGroups::make(options);
  auto made = memory ? make_namespaces() : Result<>(memory.error());
  if (!made) {
    send_text(control.get(), made.error().message);
    return 1;
  }
  block_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(Switch(options, memory.value(), std::move(control)).run());
  }
  control.reset();
  ::signal(SIGPIPE, SIG_IGN);  // the process that reads the lines may have ended
  int status = wait_for_switch(pid);
  std::fputs(memory.value().peaks().c_str(), stderr);
  return status == 0 ? 0 : 1;
}

int Switch::run() {
  ::prctl(PR_SET_NAME, "test-switch");
  leave_standard_descriptors();
  auto mounted = mount_processes();
  if (auto made = mounted ? make_hosts() : mounted; !made) {
    send_text(control_.get(), made.error().message);
    return 1;
  }
  send_text(control_.get(), "ready");
  serve();
  return 0;
}

Result<> Switch::make_hosts() {
  UniqueFd own(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!own) return errno_error("cannot open the namespace of processes");
  hosts_.resize(options_.hosts);
  std::vector<pid_t> keepers;
  for (std::uint32_t host = 0; host < options_.hosts; ++host) {
    if (auto started = start_keeper(host, own.get()); !started) return started;
    keepers.push_back(hosts_[host].keeper);
  }
  if (auto placed = hear_from_all("placed"); !placed) return placed;
  if (auto made = make_switch(options_, keepers); !made) return made;
  for (Host& host : hosts_) send_text(host.channel.get(), "connected");
  return hear_from_all("ready");
}

Result<> Switch::start_keeper(std::uint32_t host, int own_namespace) {
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  if (::unshare(CLONE_NEWPID) < 0) return errno_error("namespaces in namespaces are not permitted");
  pid_t pid = ::fork();
  if (pid == 0) {
    for (Host& other : hosts_) other.channel.reset();
    control_.reset();
    pair.value().ours.reset();
    ::_exit(Keeper(options_, memory_, host, std::move(pair.value().theirs)).run());
  }
  if (pid < 0 || ::setns(own_namespace, CLONE_NEWPID) < 0) {
    return errno_error("cannot start the first process of a test host");
  }
  hosts_[host] = {pid, std::move(pair.value().ours)};
  return {};
}

Result<> Switch::hear_from_all(const char* expected) {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    std::string said = receive_text(hosts_[host].channel.get(), kPatienceMs);
    if (said.empty()) return error("test host {} does not come up", host_name(host));
    if (said != expected) return base::Error{said};
  }
  return {};
}

void Switch::serve() {
  for (;;) {
    std::vector<pollfd> ready{{control_.get(), POLLIN, 0}};
    for (const Host& host : hosts_) ready.push_back({host.channel.get(), POLLIN, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      auto message = receive_request(ready[i].fd);
      if (message) {
        route(std::move(message).value());
      } else if (i == 0) {
        return;
      } else {
        hosts_[i - 1].channel.reset();
        reap();
      }
    }
  }
}

void Switch::reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

Switch::Host* Switch::find(const std::string& name) {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (host_name(host) == name) return &hosts_[host];
    for (std::uint32_t link = 0; link < options_.links; ++link) {
      if (host_address(options_, host, link) == name) return &hosts_[host];
    }
  }
  return nullptr;
}

void Switch::route(Message message) {
  if (message.fds.empty()) return;
  int answer = message.fds.back().get();
  const Request& request = message.request;
  Host* host = find(request.host);
  if (host == nullptr) {
    send_text(answer, fmt::format("there is no test host {}", request.host));
    return;
  }
  if (request.kind == Request::Kind::kLink || request.kind == Request::Kind::kCrossing) {
    auto changed =
        request.kind == Request::Kind::kLink ? change_link(request) : change_crossing(request);
    send_text(answer, changed ? "exit 0" : changed.error().message);
    return;
  }
  std::vector<int> fds;
  for (const UniqueFd& fd : message.fds) fds.push_back(fd.get());
  bool sent = host->channel && send_request(host->channel.get(), request, fds).ok();
  if (!sent) send_text(answer, fmt::format("test host {} is down", request.host));
}

Result<> Switch::change_link(const Request& request) {
  auto host = static_cast<std::uint32_t>(find(request.host) - hosts_.data());
  if (request.words.size() != 2 || request.words[1].size() != 1)
    return error("a link is changed by its number and a state");
  auto link = static_cast<std::uint32_t>(std::strtoul(request.words[0].c_str(), nullptr, 10));
  if (link >= options_.links) return error("test hosts have no link {}", link);
  return set_port(host, link, static_cast<LinkState>(request.words[1][0]));
}

Result<> Switch::change_crossing(const Request& request) {
  if (request.words.size() != 3 || request.words[2].size() != 1)
    return error("a way between clusters is changed by two numbers and a state");
  auto number = [&](std::size_t word) {
    return static_cast<std::uint32_t>(std::strtoul(request.words[word].c_str(), nullptr, 10));
  };
  std::uint32_t from = number(0), to = number(1);
  std::uint32_t clusters =
      options_.cluster_hosts == 0 ? 1 : options_.hosts / options_.cluster_hosts;
  if (from >= clusters || to >= clusters || from == to)
    return error("test hosts have no way from cluster {} to cluster {}", from, to);
  return set_crossing(options_, from, to, static_cast<LinkState>(request.words[2][0]));
}

}  // namespace terrane::test_hosts
