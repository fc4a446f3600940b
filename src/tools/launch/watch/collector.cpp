#include "tools/launch/watch/collector.h"

#include <utility>

#include "bootstrap/node_snapshot.h"

namespace terrane::tools {

Collector::Collector(Loop& loop, std::uint32_t places, Surroundings around)
    : around_(std::move(around)),
      nodes_(places),
      patience_(loop, [this] { finish(); }),
      soon_(loop, [this] { finish_if_complete(); }) {}

// An answer within this call would come before the caller is ready for it.
void Collector::ask(Done done) {
  if (waiting_.empty() && latest_at_ms_ != 0 && now_ms() - latest_at_ms_ < kFreshMs)
    return done(latest_);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  nodes_.assign(nodes_.size(), {});
  patience_.set_in(kPatienceMs);
  around_.ask_hosts();
  soon_.set_in(1);  // a job without nodes has nobody who answers
}

void Collector::take(const HostEvent& event) {
  if (waiting_.empty()) return;
  if (const auto* use = std::get_if<event::NodeUse>(&event)) {
    nodes_[use->node.value].use = *use;
  } else if (const auto* answer = std::get_if<event::NodeAnswer>(&event)) {
    auto snapshot = bootstrap::decode_snapshot(answer->snapshot);
    if (!snapshot) return;
    Node& node = nodes_[answer->node.value];
    ++node.answers;
    node.of = answer->of;
    if (node.snapshot) {
      node.snapshot->add(*snapshot);
    } else {
      node.snapshot = std::move(*snapshot);
    }
  } else {
    return;
  }
  if (!soon_.is_set()) finish_if_complete();
}

void Collector::finish_if_complete() {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    if (around_.runs(NodeId{node}) && !nodes_[node].is_complete()) return;
  finish();
}

void Collector::finish() {
  patience_.clear();
  soon_.clear();
  latest_ = around_.facts();
  for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
    const Node& node = nodes_[number];
    if (!around_.runs(NodeId{number})) continue;
    NodeView view{.node = number, .host = around_.host_of(NodeId{number})};
    if (node.use) {
      view.at_ns = node.use->at_ns;
      view.processor_ns = node.use->processor_ns;
      view.resident_bytes = node.use->resident_bytes;
    }
    if (node.snapshot) view.snapshot = bootstrap::encode_snapshot(*node.snapshot);
    latest_.nodes.push_back(std::move(view));
  }
  latest_at_ms_ = now_ms();
  for (const Done& done : std::exchange(waiting_, {})) done(latest_);
}

}  // namespace terrane::tools
