#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "transport/unique_fd.h"

namespace terrane::transport::shm {

// Sees peers' processes end. Owns a descriptor of each process, and one to ask them all at once. A
// peer whose process cannot be named from here (another pid namespace, an old kernel) is never
// reported.
class PeerWatch {
 public:
  static base::Result<PeerWatch> create(std::uint32_t nodes);

  // Fails only when this process is short of descriptors.
  base::Result<> add(NodeId peer, std::uint32_t pid);
  // Whether a peer has ended that take() has not named. One system call; any thread. Ask take()
  // first once: those that had ended before add() are known to it alone.
  bool news() const;
  // Readable while there is news.
  int fd() const { return poll_.get(); }
  // A peer that has ended, each once.
  std::optional<NodeId> take();
  // The errno with which pidfd_open was denied; 0: it was not.
  int denied() const { return denied_; }
  std::uint32_t pid_of(NodeId peer) const { return peers_[peer.value].pid; }

 private:
  struct Peer {
    std::uint32_t pid = 0;
    UniqueFd process;
  };

  UniqueFd poll_;
  std::vector<Peer> peers_;
  std::vector<NodeId> ended_at_start_;
  int denied_ = 0;
};

}  // namespace terrane::transport::shm
