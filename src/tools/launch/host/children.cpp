#include "tools/launch/host/children.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace terrane::tools {

base::Result<> Children::open() {
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  signals_.reset(::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_ || !loop_.watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { reap(); })) {
    return base::errno_error("cannot watch the job's processes");
  }
  return {};
}

void Children::expect(pid_t pid, std::function<void(int)> handler) {
  expected_[pid] = std::move(handler);
}

// All are taken in before anyone is informed: deaths at once are judged together.
void Children::reap() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) continue;
  struct Ended {
    std::function<void(int)> handler;
    int status;
  };
  std::vector<Ended> ended;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    auto found = expected_.find(pid);
    if (found == expected_.end()) continue;
    ended.push_back({std::move(found->second), status});
    expected_.erase(found);
  }
  if (!ended.empty() && before_) before_();
  for (Ended& one : ended) one.handler(one.status);
}

}  // namespace terrane::tools
