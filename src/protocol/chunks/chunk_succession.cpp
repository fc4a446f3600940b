// What a client does when homes die: it reports to their successors, and repeats its questions.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"
#include "protocol/chunks/placements.h"
#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

void ChunkCache::view_changed(std::uint32_t before) {
  std::vector<std::uint32_t> moved;
  for (std::uint32_t s = 0; s < view_.slots.size(); ++s)
    if (view_.slots[s].since > before) moved.push_back(s);
  auto has_moved = [&](std::uint64_t slot) {
    return std::find(moved.begin(), moved.end(), slot) != moved.end();
  };
  for (auto& [id, copy] : copies_.all())
    if (has_moved(id >> kSlotShift))
      copy.works() ? work_.report(ChunkId{id}) : lose_home(ChunkId{id}, copy);
  for (const auto& [id, copy] : copies_.all())
    tell_placement(ChunkId{id}, copy.name, view_, before, outbox_);
  for (std::uint32_t slot : moved) {
    copies_.home_moved(slot);
    outbox_.send(view_.slots[slot].home, {.kind = ChunkKind::kReportEnd, .chunk = slot});
  }
  work_.view_changed(moved);
  if (mutant(Mutant::kRequestNotRepeated)) return;
  questions_.repeat(moved, [&](ChunkId id) {
    const Copy* lost = copies_.find(id);
    return lost == nullptr || lost->gone;
  });
  for (auto& [id, copy] : copies_.all()) {
    if (!has_moved(id >> kSlotShift) || copy.waiters.empty()) continue;
    mark(Mark::kRequestRepeated);
    pump(ChunkId{id}, copy);
  }
}

// Forgets what the dead home was asked, had asked, or was sent.
void ChunkCache::lose_home(ChunkId id, Copy& copy) {
  bool told = copy.gone;
  if (copy.half && copy.pushed()) pushed_.step_back(id, copy);
  if (copy.pushed()) pushed_.lose(id, copy);
  if (!mutant(Mutant::kRequestNotRepeated)) copy.pending = {};
  copy.due.reset();
  if (copy.evicting) copies_.end_eviction(copy);
  if (copy.blank) {
    copy.state = State::kInvalid;
    copy.blank = false;
  }
  if (!copy.has_bytes && !copy.pushed()) copies_.release(id, copy);
  if (copy.state == State::kExclusive && !copy.pushed()) copy.state = State::kModified;
  if (copies_.own(id) && !copy.pushed())
    copies_.shrink(copy, 0);  // it is the memory of the home now
  // A node reports to each successor that the chunk is gone: a former home may have died before it
  // had notified all nodes.
  bool serves = !copies_.awaits_home(id);
  if (told && mutant(Mutant::kGoneUntold)) return;
  ChunkMessage report{.kind = ChunkKind::kReport, .mode = static_cast<std::uint8_t>(copy.state)};
  report.flags = copy.has_bytes ? wire::kBytesFlag : 0;
  if (told) report.flags = serves ? wire::kGoneFlag | wire::kToldFlag : wire::kGoneFlag;
  report.coherence = static_cast<std::uint8_t>(copy.half.value_or(copy.coherence));
  if (copy.half && !told) report.flags |= wire::kChangingFlag;
  report.chunk = id.value;
  report.turn = static_cast<std::uint32_t>(copy.made);
  report.version = copy.version;
  report.bytes = copy.bytes;
  outbox_.send(home_of(id, view_), report, std::as_bytes(std::span(copy.name)));
}

// The home died while the chunk changed its coherence: other nodes knew that all had changed, this
// one did not. Open scopes use the copy until they end.
bool ChunkCache::is_gone(const ChunkMessage& message) {
  Copy* copy = copies_.find(ChunkId{message.chunk});
  if (!copy || copy->gone || copy->pushed()) return true;
  mark(Mark::kGoneWhileChanging);
  ChunkId id{message.chunk};
  copy->gone = true;
  copy->half.reset();
  copy->pending = {};
  copy->due.reset();
  copy->state = State::kInvalid;
  copy->blank = false;
  if (copy->evicting) copies_.end_eviction(*copy);
  for (const Copy::Waiter& waiter : copy->waiters)
    outbox_.resume(waiter.waiter, Status::kUnknown, id);
  copy->waiters.clear();
  if (copy->readers == 0 && !copy->writer) copies_.release(id, *copy);
  wake_starved();
  return true;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
