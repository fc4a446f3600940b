#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/adoption.h"
#include "bootstrap/packet.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// The door of a host (bootstrap/adoption.h) and what is known of it.
struct DoorPlan {
  base::UniqueFd door;
  bootstrap::JobSecret secret{};
  pid_t opener = 0;  // the node that opened it
};

// Serves a host's door: gives each node of the host that knocks, and proves that it is of this job,
// the socket of its place, once. Owns the door, and watches the nodes that came, those that have
// yet to come, and the launcher that started them; it cannot be their parent. Never blocks.
class Doorkeeper {
 public:
  struct Handlers {
    std::function<base::Result<base::UniqueFd>(NodeId)> place;
    std::function<void(NodeId, pid_t)> came;
    // With its wait status, where that can be learned.
    std::function<void(NodeId, pid_t, std::optional<int>)> ended;
    // The job cannot be run: somebody did not come, or the launcher has gone.
    std::function<void(const std::string&)> failed;
  };

  Doorkeeper(Loop& loop, DoorPlan plan, std::vector<std::uint32_t> nodes, Handlers handlers);
  ~Doorkeeper();
  Doorkeeper(const Doorkeeper&) = delete;

  base::Result<> open();
  bool all_came() const { return came_.size() == nodes_.size(); }
  // All nodes have ended: nobody else is let in, and the launcher may go.
  void rest();

 private:
  struct Visitor {
    base::UniqueFd socket;
    pid_t pid = 0;
  };
  struct Guest {
    NodeId node{};
    pid_t pid = 0;
    base::UniqueFd pidfd;
  };

  struct GivenPlace {
    base::UniqueFd visitor;
    NodeId node{};
    base::UniqueFd place;
  };

  void on_knock();
  void on_word(int socket);
  void hand_out_places();
  std::string objection(NodeId node) const;
  void refuse(int socket, const std::string& sentence);
  void watch_guest(NodeId node, pid_t pid, base::UniqueFd pidfd);
  void watch_launcher(pid_t of);
  void on_end(int pidfd);
  void on_opener_end();
  void look_for_missing();
  std::string missing() const;

  Loop& loop_;
  DoorPlan plan_;
  std::vector<std::uint32_t> nodes_;
  Handlers handlers_;
  bootstrap::PacketReader reader_;
  std::unordered_map<int, Visitor> visitors_;      // by socket
  std::unordered_map<int, Guest> guests_;          // by pidfd
  std::unordered_map<std::uint32_t, pid_t> came_;  // by node
  std::unordered_map<pid_t, base::UniqueFd> launchers_;
  base::UniqueFd opener_;
  std::vector<GivenPlace> given_;  // that their visitors have not got yet
  Timer again_, missing_;
};

}  // namespace terrane::tools
