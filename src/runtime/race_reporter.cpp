#include "runtime/race_reporter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "runtime/report_names.h"

namespace terrane::runtime {
namespace {

// The start of a node's contribution; its records follow.
struct Found {
  std::uint64_t left_out = 0;
  std::uint64_t records = 0;
};

std::vector<std::byte> contribution_of(HomeCheck& check) {
  Found mine;
  std::vector<RaceRecord> records = check.records(mine.left_out);
  mine.records = records.size();
  std::vector<std::byte> told(sizeof mine + records.size() * sizeof(RaceRecord));
  std::memcpy(told.data(), &mine, sizeof mine);
  if (!records.empty())
    std::memcpy(told.data() + sizeof mine, records.data(), told.size() - sizeof mine);
  return told;
}

// Appends the records; a contribution that is cut short has fewer.
void add(std::span<const std::byte> contribution, std::vector<RaceRecord>& records,
         std::uint64_t& left_out) {
  Found theirs;
  if (contribution.size() < sizeof theirs) return;
  std::memcpy(&theirs, contribution.data(), sizeof theirs);
  contribution = contribution.subspan(sizeof theirs);
  left_out += theirs.left_out;
  std::size_t count = contribution.size() / sizeof(RaceRecord);
  std::size_t before = records.size();
  records.resize(before + count);
  if (count > 0) std::memcpy(&records[before], contribution.data(), count * sizeof(RaceRecord));
}

std::vector<std::uint64_t> numbers_in(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> all(bytes.size() / sizeof(std::uint64_t));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof all[0]);
  return all;
}

// Whether accesses of a place are atomic, or of a page, so that they order what they like.
class Atomics {
 public:
  Atomics(const std::vector<std::vector<std::uint64_t>>& lists, std::uint64_t unit,
          const ProgramNames& names)
      : unit_(unit), names_(names) {
    for (const auto& list : lists)
      for (std::uint64_t one : list)
        if ((one & AccessKeeper::kSynchronises) != 0)
          synchronising_.insert(one >> AccessKeeper::kShift);
  }

  bool are(const protocol::AccessRace& race) {
    return synchronising_.contains(race.first / unit_) ||
           (is_one(race.one.place) && is_one(race.other.place));
  }

 private:
  bool is_one(std::uint64_t place) {
    constexpr std::size_t kMostAsked = 500;  // each takes some milliseconds
    auto [at, fresh] = places_.try_emplace(place, false);
    if (fresh && names_.is_atomic && places_.size() <= kMostAsked)
      at->second = names_.is_atomic(place);
    return at->second;
  }

  std::uint64_t unit_;
  const ProgramNames& names_;
  std::set<std::uint64_t> synchronising_;
  std::map<std::uint64_t, bool> places_;
};

using Intervals = std::vector<std::vector<protocol::AccessInterval>>;  // by node

struct OfNode {
  std::uint32_t node;
  const protocol::AccessInterval* interval;
};

bool knows(const OfNode& one, const OfNode& other) {
  return one.interval->known[other.node] >= other.interval->interval;
}

std::vector<OfNode> intervals_with(const Intervals& all, const protocol::AccessOfNode& access,
                                   const protocol::AccessRace& race) {
  std::vector<OfNode> found;
  for (const protocol::AccessInterval& one : all[access.node.value])
    if (std::any_of(one.accesses.begin(), one.accesses.end(), [&](const auto& bytes) {
          return bytes.place == access.place && bytes.first < race.first + race.bytes &&
                 race.first < bytes.end();
        }))
      found.push_back({access.node.value, &one});
  return found;
}

// Whoever knows the interval `to` knows `from` as well, with all that it knew. False: nothing new.
bool tell(Intervals& all, const OfNode& from, const OfNode& to) {
  bool is_news = false;
  std::vector<std::uint32_t> told = from.interval->known;
  told[from.node] = from.interval->interval;
  std::uint32_t number = to.interval->interval;
  for (std::uint32_t n = 0; n < all.size(); ++n)
    for (protocol::AccessInterval& one : all[n]) {
      bool hears = n == to.node ? one.interval >= number : one.known[to.node] >= number;
      for (std::uint32_t k = 0; hears && k < all.size(); ++k) {
        if (k == n || one.known[k] >= told[k]) continue;
        one.known[k] = told[k];
        is_news = true;
      }
    }
  return is_news;
}

// Atomic accesses that meet may order what was before the one and what is behind the other. False:
// there are too many.
bool order(Intervals& all, const std::vector<protocol::AccessRace>& atomic) {
  constexpr std::size_t kMostMeetings = 10'000;
  constexpr int kMostRounds = 20;
  std::vector<std::pair<OfNode, OfNode>> meetings;
  for (const protocol::AccessRace& race : atomic)
    for (const OfNode& one : intervals_with(all, race.one, race))
      for (const OfNode& other : intervals_with(all, race.other, race)) {
        if (knows(one, other) || knows(other, one)) continue;
        meetings.emplace_back(one, other);
        if (meetings.size() > kMostMeetings) return false;
      }
  bool is_news = true;
  for (int round = 0; is_news && round < kMostRounds; ++round) {
    is_news = false;
    for (const auto& [one, other] : meetings) {
      is_news = tell(all, one, other) || is_news;
      is_news = tell(all, other, one) || is_news;
    }
  }
  return !is_news;
}

// The races that are left when atomic accesses have ordered what they may have ordered.
std::vector<protocol::AccessRace> races_without(Atomics& atomics, Intervals& intervals) {
  constexpr std::size_t kMostRaces = 100'000;
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    protocol::AccessCheck check;
    for (std::uint32_t n = 0; n < intervals.size(); ++n) check.add(NodeId{n}, intervals[n]);
    std::vector<protocol::AccessRace> races = check.find(kMostRaces), atomic;
    std::erase_if(races, [&](const protocol::AccessRace& race) {
      bool is = atomics.are(race);
      if (is) atomic.push_back(race);
      return is;
    });
    if (atomic.empty() || races.empty()) return races;
    if (!order(intervals, atomic)) break;
  }
  return {};  // too much of it may be in order
}

// Collective: which blocks nodes share, then what each has accessed there. On node 0: the races.
base::Result<std::vector<protocol::AccessRace>> races_of_accesses(bootstrap::Bootstrap& job,
                                                                  PageSpace& space,
                                                                  const AccessKeeper& mine,
                                                                  const ProgramNames& names) {
  std::vector<std::uint64_t> blocks = mine.blocks(CheckedPages::entries(space));
  auto lists = job.exchange(std::as_bytes(std::span(blocks)), {});
  if (!lists) return lists.error();
  std::vector<std::vector<std::uint64_t>> by_node;
  for (const bootstrap::Contribution& one : lists.value()) by_node.push_back(numbers_in(one.bytes));
  auto all = job.exchange(mine.accesses_in(shared_blocks(by_node)), {});
  if (!all) return all.error();
  if (space.self() != NodeId{0}) return std::vector<protocol::AccessRace>();
  auto nodes = static_cast<std::uint32_t>(all.value().size());
  Intervals intervals;
  for (const bootstrap::Contribution& one : all.value())
    intervals.push_back(read_accesses(one.bytes, nodes));
  Atomics atomics(by_node, space.unit(), names);
  return races_without(atomics, intervals);
}

}  // namespace

void RaceReporter::report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
                          const ProgramNames& names) {
  HomeCheck* check = CheckedPages::check(space);
  if (check == nullptr) return;
  auto all = job.exchange(contribution_of(*check), {});
  const AccessKeeper* accesses = CheckedPages::accesses(space);
  auto races = accesses != nullptr && all ? races_of_accesses(job, space, *accesses, names)
                                          : std::vector<protocol::AccessRace>();
  if (space.self() != NodeId{0}) return;
  if (!all) {
    base::log("what other nodes have found is not known: {}", all.error().message);
    return;
  }
  std::vector<RaceRecord> records;
  std::uint64_t left_out = 0;
  for (const bootstrap::Contribution& one : all.value()) add(one.bytes, records, left_out);
  auto variable = [&](const RaceRecord& record) {
    return variable_of(record.first, space, engine, names);
  };
  std::vector<RaceLine> lines = race_lines(records, variable);
  if (!races) base::log("what nodes have accessed is not known: {}", races.error().message);
  if (races && !races.value().empty()) {
    auto at = [&](std::uint64_t offset) { return variable_of(offset, space, engine, names); };
    auto place = [&](std::uint64_t code) { return names.place ? names.place(code) : ""; };
    add_accesses(races.value(), at, place, lines);
  }
  found_ = count_races(lines);
  write(lines, left_out, accesses != nullptr);
}

void RaceReporter::write(const std::vector<RaceLine>& lines, std::uint64_t left_out,
                         bool with_reads) const {
  for (const std::string& sentence : race_sentences(lines, left_out, with_reads))
    base::log_line(sentence);
  write_check_output(output_, race_json(lines, left_out));
}

}  // namespace terrane::runtime
