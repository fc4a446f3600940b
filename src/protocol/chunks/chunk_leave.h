#pragma once

#include <optional>
#include <vector>

#include "protocol/chunks/copies.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// What a client does to leave a job that continues: it gives all copies back, and waits until the
// homes have handled what it sent.
class ChunkLeave {
 public:
  ChunkLeave(Copies& copies, const WorkClient& work, const View& view, ChunkOutbox& outbox)
      : copies_(copies), work_(work), view_(view), outbox_(outbox) {}

  // The thread `waiter` waits until this node may leave.
  void begin(WaiterId waiter);
  // At the end of every step: does what can be done now.
  void go_on();
  // The home has handled everything that this node sent.
  void left(NodeId home) { std::erase(still_to_hear_, home); }

 private:
  bool give_all_back();

  Copies& copies_;
  const WorkClient& work_;
  const View& view_;
  ChunkOutbox& outbox_;
  std::optional<WaiterId> waiter_;
  bool asked_ = false;                 // whether the homes were asked
  std::vector<NodeId> still_to_hear_;  // homes that have not answered
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
