#include "runtime/race_reporter.h"

#include <cstring>

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

}  // namespace

void RaceReporter::report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
                          const ProgramNames& names) {
  HomeCheck* check = CheckedPages::check(space);
  if (check == nullptr) return;
  auto all = job.exchange(contribution_of(*check), {});
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
  found_ = count_races(lines);
  write(lines, left_out);
}

void RaceReporter::write(const std::vector<RaceLine>& lines, std::uint64_t left_out) const {
  for (const std::string& sentence : race_sentences(lines, left_out)) base::log_line(sentence);
  write_check_output(output_, race_json(lines, left_out));
}

}  // namespace terrane::runtime
