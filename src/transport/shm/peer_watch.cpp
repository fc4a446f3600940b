#include "transport/shm/peer_watch.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace terrane::transport::shm {

base::Result<PeerWatch> PeerWatch::create(std::uint32_t nodes) {
  PeerWatch watch;
  watch.peers_.resize(nodes);
  watch.poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!watch.poll_) return base::errno_error("shm: epoll_create1");
  return watch;
}

base::Result<> PeerWatch::add(NodeId peer, std::uint32_t pid) {
  Peer& entry = peers_[peer.value];
  entry.pid = pid;
  entry.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));  // always close-on-exec
  if (!entry.process) {
    if (errno == ESRCH) ended_at_start_.push_back(peer);
    if (errno == EMFILE || errno == ENFILE) {
      return base::errno_error("shm: a descriptor for each node (raise it with ulimit -n)");
    }
    if (errno == EPERM || errno == ENOSYS) denied_ = errno;
    return {};
  }
  epoll_event event{.events = EPOLLIN, .data = {.u32 = peer.value}};
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, entry.process.get(), &event) != 0) {
    return base::errno_error("shm: epoll_ctl");
  }
  return {};
}

bool PeerWatch::news() const {
  epoll_event event{};
  return ::epoll_wait(poll_.get(), &event, 1, 0) > 0;
}

std::optional<NodeId> PeerWatch::take() {
  if (!ended_at_start_.empty()) {
    NodeId peer = ended_at_start_.back();
    ended_at_start_.pop_back();
    return peer;
  }
  epoll_event event{};
  if (::epoll_wait(poll_.get(), &event, 1, 0) <= 0) return std::nullopt;
  NodeId peer{event.data.u32};
  // Taken out by name: a copy of the descriptor in a forked child would keep it in the set.
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, peers_[peer.value].process.get(), nullptr);
  peers_[peer.value].process.reset();
  return peer;
}

}  // namespace terrane::transport::shm
