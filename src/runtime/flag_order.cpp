#include "runtime/flag_order.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace terrane::runtime {
namespace {

std::vector<protocol::AccessRace> races_of_writes(const std::vector<protocol::AccessRace>& races) {
  std::vector<protocol::AccessRace> some;
  std::copy_if(races.begin(), races.end(), std::back_inserter(some),
               [](const auto& race) { return race.one.is_write && race.other.is_write; });
  return some;
}

}  // namespace

std::vector<FlagOrder::OfNode> FlagOrder::intervals_with(const protocol::AccessOfNode& access,
                                                         const protocol::AccessRace& race) const {
  std::vector<OfNode> found;
  for (const protocol::AccessInterval& one : intervals_[access.node.value])
    if (std::any_of(one.accesses.begin(), one.accesses.end(), [&](const auto& bytes) {
          return bytes.place == access.place && bytes.first < race.first + race.bytes &&
                 race.first < bytes.end();
        }))
      found.push_back({access.node.value, &one});
  return found;
}

// Whoever knows the interval `to` knows `from` as well, with all that it knew. False: nothing new.
bool FlagOrder::tell(const OfNode& from, const OfNode& to) {
  bool is_news = false;
  std::vector<std::uint32_t> told = from.interval->known;
  told[from.node] = from.interval->interval;
  std::uint32_t number = to.interval->interval;
  for (std::uint32_t n = 0; n < intervals_.size(); ++n)
    for (protocol::AccessInterval& one : intervals_[n]) {
      bool hears = n == to.node ? one.interval >= number : one.known[to.node] >= number;
      for (std::uint32_t k = 0; hears && k < intervals_.size(); ++k) {
        if (k == n || one.known[k] >= told[k]) continue;
        one.known[k] = told[k];
        is_news = true;
      }
    }
  return is_news;
}

FlagOrder::Order FlagOrder::order(const std::vector<protocol::AccessRace>& atomic) {
  constexpr std::size_t kMostPairs = 10'000;
  constexpr int kMostRounds = 20;
  std::vector<std::pair<OfNode, OfNode>> pairs;  // the second one hears of the first
  for (const protocol::AccessRace& race : atomic)
    for (const OfNode& one : intervals_with(race.one, race))
      for (const OfNode& other : intervals_with(race.other, race)) {
        if (knows(one, other) || knows(other, one)) continue;
        bool both = orders_both(race);
        if (both || !race.other.is_write) pairs.emplace_back(one, other);
        if (both || !race.one.is_write) pairs.emplace_back(other, one);
        if (pairs.size() > kMostPairs) return Order::kTooMany;
      }
  Order found = Order::kNothingNew;
  for (int round = 0; round < kMostRounds; ++round) {
    bool is_news = false;
    for (const auto& [from, to] : pairs) is_news = tell(from, to) || is_news;
    if (!is_news) return found;
    found = Order::kNew;
  }
  return Order::kTooMany;
}

std::vector<protocol::AccessRace> FlagOrder::races() {
  constexpr std::size_t kMostRaces = 100'000;
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    protocol::AccessCheck check;
    for (std::uint32_t n = 0; n < intervals_.size(); ++n) check.add(NodeId{n}, intervals_[n]);
    std::vector<protocol::AccessRace> races = check.find(kMostRaces), atomic;
    std::erase_if(races, [&](const protocol::AccessRace& race) {
      bool is = orders_both(race) || are_atomic(race);
      if (is) atomic.push_back(race);
      return is;
    });
    after_ = races_of_writes(races);
    if (round == 0) before_ = after_;
    Order ordered = order(atomic);
    if (ordered == Order::kNothingNew) return races;
    if (ordered == Order::kTooMany) break;
  }
  return {};  // too much of it may be in order
}

// Whether that node knew the other one's interval in its own interval `to`. What it knew in an
// earlier one, it knows there.
bool FlagOrder::is_known(std::uint32_t to_node, std::uint32_t to, std::uint32_t node,
                         std::uint32_t interval) const {
  const auto& all = intervals_[to_node];
  auto is_up_to = [](std::uint32_t number, const protocol::AccessInterval& one) {
    return number < one.interval;
  };
  auto behind = std::upper_bound(all.begin(), all.end(), to, is_up_to);
  return behind != all.begin() && (behind - 1)->known[node] >= interval;
}

bool FlagOrder::are_atomic_writes(const RaceRecord& record, std::uint32_t node) const {
  std::uint64_t end = record.first + record.bytes;
  bool some = false;
  for (const protocol::AccessInterval& interval : intervals_[node])
    for (const protocol::AccessedBytes& one : interval.accesses) {
      bool writes = one.is_write != 0 && one.first < end && record.first < one.end();
      if (writes && !is_atomic_(one.place)) return false;
      some = some || writes;
    }
  return some;
}

bool FlagOrder::are_ordered(const RaceRecord& record, std::uint32_t later_by) const {
  auto [one, other] = record.nodes;
  return std::all_of(
      record.intervals, record.intervals + record.pairs, [&](const std::uint32_t(&pair)[2]) {
        if (pair[0] == RaceRecord::kUnknown) return false;
        return is_known(one, pair[0], other, pair[1] - std::min(later_by, pair[1])) ||
               is_known(other, pair[1], one, pair[0] - std::min(later_by, pair[0]));
      });
}

bool FlagOrder::is_seen_in_order(const RaceRecord& record) const {
  auto is_of_it = [&](const protocol::AccessRace& race) {
    auto [low, high] = std::minmax(record.nodes[0], record.nodes[1]);
    bool same_nodes = race.one.node.value == low && race.other.node.value == high;
    return same_nodes && race.first < record.first + record.bytes &&
           record.first < race.first + race.bytes;
  };
  return std::any_of(before_.begin(), before_.end(), is_of_it) &&
         std::none_of(after_.begin(), after_.end(), is_of_it);
}

bool FlagOrder::explains(const RaceRecord& record) const {
  auto [one, other] = record.nodes;
  if (std::max(one, other) >= intervals_.size()) return false;
  if (are_atomic_writes(record, one) && are_atomic_writes(record, other)) return true;
  if (record.pairs == 0 || record.pairs > RaceRecord::kMostPairs) return false;
  return are_ordered(record, 0) || (is_seen_in_order(record) && are_ordered(record, 1));
}

}  // namespace terrane::runtime
