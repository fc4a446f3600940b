#include "runtime/race_reporter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "runtime/flag_order.h"
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

// Whether an instruction is an atomic load or store, as far as that is known.
class AtomicPlaces {
 public:
  explicit AtomicPlaces(const ProgramNames& names) : names_(names) {}

  bool are(std::uint64_t place) {
    constexpr std::size_t kMostAsked = 500;  // each takes some milliseconds
    auto [at, fresh] = places_.try_emplace(place, false);
    if (fresh && names_.is_atomic && places_.size() <= kMostAsked)
      at->second = names_.is_atomic(place);
    return at->second;
  }

 private:
  const ProgramNames& names_;
  std::map<std::uint64_t, bool> places_;
};

std::set<std::uint64_t> synchronising(const std::vector<std::vector<std::uint64_t>>& lists) {
  std::set<std::uint64_t> found;
  for (const auto& list : lists)
    for (std::uint64_t one : list)
      if ((one & AccessKeeper::kSynchronises) != 0) found.insert(one >> AccessKeeper::kShift);
  return found;
}

// Collective: which blocks nodes share, then what each has accessed there. On node 0: the races;
// records of homes that flags order are taken away.
base::Result<std::vector<protocol::AccessRace>> races_of_accesses(
    bootstrap::Bootstrap& job, PageSpace& space, const AccessKeeper& mine,
    const ProgramNames& names, std::vector<RaceRecord>& records) {
  std::vector<std::uint64_t> blocks = mine.blocks(CheckedPages::entries(space));
  auto lists = job.exchange(std::as_bytes(std::span(blocks)), {});
  if (!lists) return lists.error();
  std::vector<std::vector<std::uint64_t>> by_node;
  for (const bootstrap::Contribution& one : lists.value()) by_node.push_back(numbers_in(one.bytes));
  auto all = job.exchange(mine.accesses_in(shared_blocks(by_node)), {});
  if (!all) return all.error();
  if (space.self() != NodeId{0}) return std::vector<protocol::AccessRace>();
  auto nodes = static_cast<std::uint32_t>(all.value().size());
  FlagOrder::Intervals intervals;
  for (const bootstrap::Contribution& one : all.value())
    intervals.push_back(read_accesses(one.bytes, nodes));
  AtomicPlaces atomics(names);
  FlagOrder order(
      std::move(intervals), [&](std::uint64_t place) { return atomics.are(place); },
      [pages = synchronising(by_node), unit = space.unit()](std::uint64_t offset) {
        return pages.contains(offset / unit);
      });
  std::vector<protocol::AccessRace> races = order.races();
  std::erase_if(records, [&](const RaceRecord& record) { return order.explains(record); });
  return races;
}

}  // namespace

void RaceReporter::report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
                          const ProgramNames& names) {
  HomeCheck* check = CheckedPages::check(space);
  if (check == nullptr || !looks_) return;
  auto all = job.exchange(contribution_of(*check), {});
  std::vector<RaceRecord> records;
  std::uint64_t left_out = 0;
  if (all)
    for (const bootstrap::Contribution& one : all.value()) add(one.bytes, records, left_out);
  const AccessKeeper* accesses = CheckedPages::accesses(space);
  auto races = accesses != nullptr && all ? races_of_accesses(job, space, *accesses, names, records)
                                          : std::vector<protocol::AccessRace>();
  if (space.self() != NodeId{0}) return;
  if (!all) {
    base::log("what other nodes have found is not known: {}", all.error().message);
    return;
  }
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
