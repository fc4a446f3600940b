#include "runtime/home_check.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace terrane::runtime {
namespace {

// A place for a block in the room, which grows for it, as platform::DiffKernels wants one.
std::byte* aligned_block(std::vector<std::byte>& room, std::uint64_t bytes) {
  constexpr std::uintptr_t kLine = 64;
  room.resize(bytes + kLine);
  auto at = reinterpret_cast<std::uintptr_t>(room.data());
  return room.data() + ((at + kLine - 1) / kLine * kLine - at);
}

}  // namespace

std::uint64_t HomeCheck::compare(const protocol::CompareHome& step, NodeId self,
                                 const std::byte* page, std::byte* twin) {
  std::lock_guard hold(mutex_);
  if (!looks_) {
    bool same = std::memcmp(page, twin, unit_) == 0;
    if (!same) std::memcpy(twin, page, unit_);
    return same ? 0 : unit_;
  }
  return check_.compare(step.block.value, {self, step.known}, page, twin);
}

bool HomeCheck::apply(const protocol::ApplyDiff& step, const platform::DiffKernels& kernels,
                      std::byte* page, std::byte* twin) {
  std::byte* now = aligned_block(now_, unit_);
  bool good =
      platform::diff_mask(unit_, step.diff, changed_) && kernels.apply(now, unit_, step.diff);
  if (!good) return false;
  if (looks_)
    check_.arrives(step.block.value, {step.writer, step.known}, changed_, now, page, twin);
  kernels.apply(page, unit_, step.diff);
  if (twin != nullptr) kernels.apply(twin, unit_, step.diff);
  return true;
}

void HomeCheck::follow(std::uint64_t block, const protocol::AtomicOp& op, std::uint64_t before,
                       std::byte* twin) {
  if (looks_) check_.forget(block, {op.offset, op.size});
  if (twin == nullptr) return;
  protocol::AtomicOp store = op;
  store.operand = protocol::after(op, before);
  store.kind = protocol::AtomicKind::kStore;
  protocol::perform(store, twin);
}

void HomeCheck::forget(protocol::BlockRange blocks) {
  std::lock_guard hold(mutex_);
  if (looks_) check_.forget(blocks);
}

// A change of this node that no release has found yet belongs to the interval that the next one
// closes.
void HomeCheck::add_pair(const protocol::Race& race, RaceRecord& record) {
  bool is_open = race.earlier.interval == 0;
  has_unknown_ = has_unknown_ || is_open;
  std::uint32_t pair[2] = {is_open ? RaceRecord::kUnknown : race.earlier.interval,
                           race.later.interval};
  if (record.pairs > RaceRecord::kMostPairs) return;
  for (std::uint32_t i = 0; i < record.pairs; ++i)
    if (std::equal(pair, pair + 2, record.intervals[i])) return;
  if (record.pairs < RaceRecord::kMostPairs) std::copy_n(pair, 2, record.intervals[record.pairs]);
  ++record.pairs;
}

void HomeCheck::closes(std::uint32_t interval) {
  std::lock_guard hold(mutex_);
  if (!std::exchange(has_unknown_, false)) return;
  for (auto& [key, record] : found_)
    for (auto& pair : record.intervals)
      if (pair[0] == RaceRecord::kUnknown) pair[0] = interval;
}

void HomeCheck::found(const protocol::Race& race) {
  Key key{race.block, race.earlier.node.value, race.later.node.value, race.same_value};
  auto at = found_.find(key);
  if (at == found_.end() && found_.size() >= kMostRecords) {
    ++left_out_;
    return;
  }
  std::uint64_t first = race.block * unit_ + race.bytes.first;
  std::uint64_t end = first + race.bytes.count;
  RaceRecord& record = at != found_.end() ? at->second : found_[key];
  add_pair(race, record);
  if (record.times++ == 0) {
    record.first = first;
    record.bytes = race.bytes.count;
    record.nodes[0] = race.earlier.node.value;
    record.nodes[1] = race.later.node.value;
    record.same_value = race.same_value ? 1 : 0;
    return;
  }
  end = std::max(end, record.first + record.bytes);
  record.first = std::min(record.first, first);
  record.bytes = end - record.first;
}

std::vector<RaceRecord> HomeCheck::records(std::uint64_t& left_out) {
  std::lock_guard hold(mutex_);
  left_out = left_out_;
  std::vector<RaceRecord> all;
  for (const auto& [key, record] : found_) all.push_back(record);
  return all;
}

}  // namespace terrane::runtime
