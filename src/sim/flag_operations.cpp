#include <cstring>

#include "sim/history.h"
#include "sim/names.h"

// Operations on words that threads synchronise by with plain loads and stores.
namespace terrane::sim {

using protocol::Access;

// Whether the block has one writer or many readers now: by its region's protocol, or because it is
// a synchronisation page at the actor's node.
bool Operations::is_sequential(const Actor& actor, const Op& op) const {
  if (history_.program_->regions[op.region].sc()) return true;
  std::uint32_t unit = history_.program_->setup.block_bytes;
  std::uint64_t block = history_.region_first_[op.region] + op.at / unit;
  return history_.nodes_[actor.node].hlrc().entry(block).synchronises();
}

// The word in the node's memory; nullptr: a fault comes first.
std::byte* Operations::flag_at(Actor& actor, const Op& op, Access wanted) {
  std::uint32_t unit = history_.program_->setup.block_bytes;
  std::uint64_t block = history_.region_first_[op.region] + op.at / unit;
  Node& node = history_.nodes_[actor.node];
  Node::View& view = node.views[block];
  if (history_.program_->setup.entries_vanish && history_.rng_.chance(5)) view.present = false;
  bool may = view.present && (wanted == Access::kRead || !view.guarded);
  if (!may) {
    start_fault(actor, block, wanted);
    return nullptr;
  }
  if (history_.program_->setup.sequential || is_sequential(actor, op))
    history_.check_alone(actor.node, block, wanted == Access::kWrite);
  return node.frame(block) + op.at % unit;
}

void Operations::begin_flag(Actor& actor, const Op& op) {
  check_stands(op);
  std::uint32_t unit = history_.program_->setup.block_bytes;
  std::uint64_t block = history_.region_first_[op.region] + op.at / unit;
  if (op.kind == OpKind::kFlagStore) return access(actor, op);
  // Where all is sequential, words need not be promoted.
  bool promoted = history_.program_->setup.sequential ||
                  history_.nodes_[actor.node].hlrc().entry(block).synchronises();
  if (op.kind == OpKind::kPromote || !promoted) {
    // Often the thread has loaded the word before, also where no node has stored to its block.
    bool loads = !history_.nodes_[actor.node].views[block].present &&
                 !history_.program_->setup.whole_steps && history_.rng_.chance(30);
    if (!promoted && loads) return start_fault(actor, block, Access::kRead);
    actor.doing = Actor::Doing::kPromote;
    actor.start(history_.nodes_[actor.node].hlrc().promote(actor.strand, BlockId{block}));
    return;
  }
  if (op.kind == OpKind::kFlagYields) {
    if (yields(actor, op)) ++actor.next;
    return;
  }
  bool swaps = op.kind == OpKind::kFlagSwap;
  std::byte* word = flag_at(actor, op, swaps ? Access::kWrite : Access::kRead);
  if (word == nullptr) return;
  std::uint64_t before = 0;
  std::memcpy(&before, word, sizeof before);
  if (!history_.checker_.may_load(actor.id, op, before))
    wrong_value(actor, op, before, history_.checker_.expected(op));
  if (history_.trace_)
    history_.trace_of(
        actor, {.kind = describe(*history_.program_, op), .result = fmt::format("{:#x}", before)});
  if (swaps) {
    std::memcpy(word, &op.value, sizeof op.value);
    history_.checker_.store(actor.id, op);
  }
  ++history_.outcome_.accesses;
  history_.outcome_.hash = (history_.outcome_.hash ^ before ^ actor.id) * 0x100000001b3u;
  if (swaps ? before == 0 : before >= op.value) {
    ++actor.next;
  } else {
    history_.schedule_.doze(actor.id);
  }
}

// One load of each of the two words in turn.
bool Operations::yields(Actor& actor, const Op& op) {
  bool second = actor.tries % 2 != 0;
  Op word = op;
  if (second) word.at = static_cast<std::uint32_t>(op.value);
  std::byte* at = flag_at(actor, word, Access::kRead);
  if (at == nullptr) return false;
  std::uint64_t found = 0;
  std::memcpy(&found, at, sizeof found);
  if (!history_.checker_.may_load(actor.id, word, found))
    wrong_value(actor, word, found, history_.checker_.expected(word));
  ++actor.tries;
  if (second && found == op.value >> 32) history_.schedule_.doze(actor.id);
  bool may_go = second ? found != op.value >> 32 : found == 0;
  if (may_go) actor.tries = 0;
  return may_go;
}

void Operations::begin_fence(Actor& actor) {
  actor.fence_told = history_.checker_.clocks().begin_fence();
  actor.start(history_.nodes_[actor.node].hlrc().fence(actor.strand));
}

// Where no node has told anything, the thread mostly waits. The load races with the store for which
// it waits, so it may find any earlier value.
void Operations::await_by_fences(Actor& actor, const Op& op) {
  check_stands(op);
  std::byte* word = flag_at(actor, op, Access::kRead);
  if (word == nullptr) return;
  std::uint64_t found = 0;
  std::memcpy(&found, word, sizeof found);
  if (history_.trace_)
    history_.trace_of(
        actor, {.kind = describe(*history_.program_, op), .result = fmt::format("{:#x}", found)});
  ++history_.outcome_.accesses;
  if (found >= op.value) {
    ++actor.next;
    return;
  }
  history_.schedule_.doze(actor.id);
  bool waits = history_.nodes_[actor.node].core().announcements().is_quiet();
  if (!waits || history_.rng_.chance(30)) begin_fence(actor);
}

}  // namespace terrane::sim
