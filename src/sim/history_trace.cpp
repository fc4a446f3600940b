#include <variant>

#include "sim/history.h"
#include "sim/names.h"
#include "sim/trace_steps.h"

// Writes the trace of a history, and names its actors and blocks.
namespace terrane::sim {
std::string name_of(const Actor& actor, const Network& network) {
  if (actor.id >= kFirstChannel)
    return fmt::format("node {} server of node {}", actor.node,
                       network.from(static_cast<std::uint32_t>(actor.id - kFirstChannel)));
  if (actor.id >= kMaxThreads)
    return fmt::format("node {} handler {}", actor.node, actor.id - kMaxThreads);
  return fmt::format("node {} thread {}", actor.node, actor.id);
}

void History::trace(TraceStep step) {
  step.at = schedule_.picks();
  trace_->add(std::move(step));
}

void History::trace_of(const Actor& actor, TraceStep step) {
  step.actor = name_of(actor, network_);
  trace(std::move(step));
}

// Names the blocks by the region that is allocated there, or else by one that was.
std::string History::name_of_blocks(protocol::BlockRange blocks) const {
  std::size_t found = region_first_.size();
  for (std::size_t r = 0; r < region_first_.size(); ++r) {
    if (region_first_[r] == kNoRegion || blocks.first < region_first_[r]) continue;
    bool within = blocks.first - region_first_[r] < program_->regions[r].blocks;
    if (within && (found == region_first_.size() || region_stands_[r])) found = r;
  }
  std::string name = "b";
  std::uint64_t first = blocks.first;
  if (found < region_first_.size()) {
    name = name_of(*program_, found);
    first -= region_first_[found];
  }
  std::string range = fmt::format("{}", first);
  if (blocks.count > 1) range += fmt::format("..{}", first + blocks.count - 1);
  return found < region_first_.size() ? fmt::format("{}[{}]", name, range) : name + range;
}

// Which actor acted when the history failed, and at which step.
std::string History::where() const {
  if (acting_ >= kFirstChannel) {
    auto channel = static_cast<std::uint32_t>(acting_ - kFirstChannel);
    return fmt::format("node {} had received {} from node {}", network_.to(channel), received_,
                       network_.from(channel));
  }
  const Actor& actor = *actors_[acting_];
  std::string text = name_of(actor, network_);
  if (!actor.busy()) return text + " acted";
  const protocol::Step& step = actor.strand.step();
  protocol::BlockRange blocks = blocks_of(step);
  text += fmt::format(" was at {}", protocol::name_of(step));
  if (const auto* event = event_of(step)) text += fmt::format(" {}", name_of(*event));
  if (blocks.count > 0) text += fmt::format(" {}", name_of_blocks(blocks));
  return text;
}

// Adds what just happened to the history's hash and, if wanted, to its trace.
void History::note(const Actor& actor, std::uint64_t what) {
  const protocol::Step& step = actor.strand.step();
  std::uint64_t value = static_cast<std::uint64_t>(actor.id) << 32 ^ what ^ number_of_result(step);
  outcome_.hash = (outcome_.hash ^ value) * 0x100000001b3u;
  if (!trace_) return;
  if (std::holds_alternative<protocol::Pause>(step)) return;
  protocol::BlockRange blocks = blocks_of(step);
  const protocol::Event* event = event_of(step);
  auto names = [this](protocol::BlockRange blocks) { return name_of_blocks(blocks); };
  trace_of(actor, {.kind = std::string(protocol::name_of(step)),
                   .name = std::string(event == nullptr ? "" : name_of(*event)),
                   .block = blocks.count == 0 ? "" : names(blocks),
                   .detail = detail_of(step),
                   .result = result_of(step, names)});
}

}  // namespace terrane::sim
