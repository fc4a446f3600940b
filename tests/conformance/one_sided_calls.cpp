#include "one_sided_calls.h"

#include <string>
#include <string_view>

namespace terrane::conformance {

void require_ok(const base::Result<>& result, std::source_location where) {
  require(result.ok(), result.ok() ? "" : result.error().message, where);
}

void require_refused(const base::Result<>& result, std::string_view words,
                     std::source_location where) {
  require(!result.ok(), "it is refused", where);
  require(result.error().message.find(words) != std::string::npos, result.error().message, where);
}

void require_refused(const base::Result<>& result, NodeId peer, std::source_location where) {
  require_refused(result, "node " + std::to_string(peer.value), where);
}

std::uint64_t fetch(Node& node, NodeId peer, transport::RemoteAddress word,
                    const transport::Atomic& atomic) {
  auto before = node.transport.atomic_fetch(peer, word, atomic);
  require(before.ok(), before.ok() ? "" : before.error().message);
  return before.value();
}

void wait_for_all(Node& node) {
  Recorder recorder;
  std::uint32_t round = node.board.rounds.load();
  if (node.board.arrived.fetch_add(1) + 1 == node.nodes) {
    node.board.arrived.store(0);
    node.board.rounds.store(round + 1);
  }
  poll_until(node, recorder, [&] { return node.board.rounds.load() != round; });
}

}  // namespace terrane::conformance
