#include "protocol/races/access_check.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

bool AccessLog::close(NodeId self, std::span<const std::uint32_t> known,
                      std::vector<AccessedBytes> accesses) {
  if (accesses.empty()) return false;
  if (accesses.size() > most_ - kept_) {
    left_out_ += accesses.size();
    return true;
  }
  kept_ += accesses.size();
  intervals_.push_back({known[self.value] + 1, {known.begin(), known.end()}, std::move(accesses)});
  return true;
}

void AccessCheck::add(NodeId node, const std::vector<AccessInterval>& intervals) {
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t>;
  std::map<Key, std::size_t> known;
  for (const AccessInterval& interval : intervals)
    for (const AccessedBytes& access : interval.accesses) {
      Key key{access.first, access.bytes, access.is_write, access.place};
      auto [at, fresh] = known.try_emplace(key, groups_.size());
      if (fresh) groups_.push_back({node, access, {}});
      groups_[at->second].in.push_back(&interval);
    }
}

// Of an interval of `one`, those of the other node race that it does not know and that do not know
// it. What a node knows grows from interval to interval, so the first that it does not know is the
// one that may not know it.
std::uint64_t AccessCheck::count_races(const Group& one, const Group& other) {
  std::uint64_t races = 0;
  for (const AccessInterval* mine : one.in) {
    std::uint32_t known = mine->known[other.node.value];
    auto is_known = [known](const AccessInterval* theirs, std::uint32_t) {
      return theirs->interval <= known;
    };
    auto first = std::lower_bound(other.in.begin(), other.in.end(), 0u, is_known);
    bool knows_me = first == other.in.end() || (*first)->known[one.node.value] >= mine->interval;
    if (!knows_me) ++races;
  }
  return races;
}

std::vector<AccessRace> AccessCheck::find(std::size_t most) const {
  std::vector<const Group*> sorted;
  for (const Group& group : groups_) sorted.push_back(&group);
  std::sort(sorted.begin(), sorted.end(), [](const Group* a, const Group* b) {
    return std::tie(a->access.first, a->node.value) < std::tie(b->access.first, b->node.value);
  });
  std::vector<AccessRace> found;
  std::vector<const Group*> open;  // those that may reach further
  for (const Group* next : sorted) {
    std::erase_if(open, [&](const Group* one) { return one->access.end() <= next->access.first; });
    for (const Group* one : open) {
      bool may = one->node != next->node && (one->access.is_write || next->access.is_write);
      if (mutant(Mutant::kCheckIgnoresReads))
        may = may && one->access.is_write && next->access.is_write;
      std::uint64_t times = may ? count_races(*one, *next) : 0;
      if (times == 0) continue;
      if (found.size() == most) return found;
      std::uint64_t end = std::min(one->access.end(), next->access.end());
      AccessRace race{.first = next->access.first,
                      .bytes = end - next->access.first,
                      .times = times,
                      .one = {one->node, one->access.is_write != 0, one->access.place},
                      .other = {next->node, next->access.is_write != 0, next->access.place}};
      if (race.other.node.value < race.one.node.value) std::swap(race.one, race.other);
      found.push_back(race);
    }
    open.push_back(next);
  }
  return found;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
