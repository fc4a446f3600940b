#include "protocol/promises.h"

#include <algorithm>
#include <utility>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr std::uint32_t kForever = ~0u;

bool same(BlockRange a, BlockRange b) { return a.first == b.first && a.count == b.count; }
bool contains(BlockRange all, BlockRange part) {
  return all.first <= part.first && part.end() <= all.end();
}
BlockRange run_of(std::uint64_t what) { return {what >> 8 & Promises::kMaxFirst, what & 255}; }

}  // namespace

// The promise stands in its slot before the departures are looked at: a departure that begins after
// the look finds it there.
std::uint64_t Promises::make(NodeId reader, BlockRange run) {
  if (departures_ == 0 || run.first > kMaxFirst || run.count > 255 || reader.value > 0xffff)
    return 0;
  std::uint64_t what = std::uint64_t{reader.value} << 48 | run.first << 8 | run.count;
  std::uint32_t kept = kept_.load();
  Slot* free = nullptr;
  Slot* found = nullptr;
  for (Slot& slot : slots_) {
    bool used = slot.until.load(std::memory_order_relaxed) > kept;
    if (used && slot.what.load(std::memory_order_relaxed) == what) found = &slot;
    if (!used && free == nullptr) free = &slot;
  }
  if (found == nullptr) found = free;
  if (found == nullptr) return 0;
  found->what.store(what, std::memory_order_relaxed);
  found->until.store(kForever);
  std::uint32_t after = departed_.load();
  for (Slot& slot : slots_) {
    std::uint64_t other = slot.what.load(std::memory_order_relaxed);
    bool within = &slot != found && other >> 48 == reader.value && contains(run, run_of(other));
    if (within && slot.until.load(std::memory_order_relaxed) > after) slot.until.store(after);
  }
  found->until.store(after + departures_);
  return std::uint64_t{after} + 1;
}

// Several departures may be under way at once, and begin out of their order.
void Promises::depart(std::uint32_t number) {
  std::uint32_t last = departed_.load();
  while (last < number && !departed_.compare_exchange_weak(last, number)) {
  }
}

void Promises::keep() {
  std::uint32_t done = done_.fetch_add(1) + 1;
  if (done == departed_.load()) kept_.store(done);
}

bool Promises::due(std::size_t slot, std::uint32_t number, NodeId& reader, BlockRange& run) const {
  if (slots_[slot].until.load() < number) return false;
  std::uint64_t what = slots_[slot].what.load(std::memory_order_relaxed);
  reader = NodeId{static_cast<std::uint32_t>(what >> 48)};
  run = run_of(what);
  return true;
}

void Expectations::note(NodeId home, BlockRange run, std::uint32_t after,
                        std::uint32_t departures) {
  bool found = false;
  for (Expected& one : list_) {
    if (one.home != home || !contains(run, one.run)) continue;
    if (!same(one.run, run)) {
      one.until = std::min(one.until, after);
      continue;
    }
    if (one.until <= after) one.after = after;
    one.until = after + departures;
    found = true;
  }
  if (found) return;
  if (list_.size() < Promises::kSlots * 4) list_.push_back({home, run, after, after + departures});
}

bool Expectations::covers(NodeId home, BlockRange run, std::uint32_t number) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Expected& one) {
    return one.is_of(home, number) && contains(one.run, run);
  });
}

std::uint64_t Expectations::alike(NodeId home, BlockRange run, std::uint32_t number) const {
  std::uint64_t together = 0, alone = run.count;
  for (const Expected& one : list_) {
    if (!one.is_of(home, number) || one.run.end() <= run.first) continue;
    if (one.run.first <= run.first) together = std::max(together, one.run.end() - run.first);
    // What has to be asked for anyway may become one with what is promised; but not with a part.
    if (one.run.first > run.first && one.run.end() > run.end())
      alone = std::min(alone, one.run.first - run.first);
  }
  return std::min(run.count, together > 0 ? together : alone);
}

void Expectations::give_up(NodeId home, BlockRange run) {
  std::erase_if(list_,
                [&](const Expected& one) { return one.home == home && contains(one.run, run); });
}

void Expectations::forget(std::uint32_t number) {
  std::erase_if(list_, [&](const Expected& one) { return one.until < number; });
}

bool NewsBox::put(News news) {
  if (list_.size() >= kMost) return false;
  list_.push_back(std::move(news));
  return true;
}

const NewsBox::News* NewsBox::find(NodeId from, BlockRange part, std::uint32_t number) const {
  for (const News& news : list_)
    if (news.from == from && contains(news.run, part) &&
        (news.number == number || mutant(Mutant::kNewsOfAnyDeparture)))
      return &news;
  return nullptr;
}

void NewsBox::forget(std::uint32_t number) {
  std::erase_if(list_, [&](const News& news) { return news.number <= number; });
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
