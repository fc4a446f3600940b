#include "runtime/race_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/report_names.h"

namespace terrane::runtime {
namespace {

std::string bytes_of(const RaceLine& line) {
  std::uint64_t bytes = line.end - line.first;
  if (bytes == 1) return fmt::format("byte {}", line.first);
  return fmt::format("bytes {} to {}", line.first, line.end - 1);
}

}  // namespace

std::vector<RaceLine> race_lines(
    std::span<const RaceRecord> records,
    const std::function<NamedVariable(const RaceRecord&)>& variable_of) {
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, RaceLine> lines;
  for (const RaceRecord& record : records) {
    // Which of the two changes was at the home first is chance.
    auto [lower, higher] = std::minmax(record.nodes[0], record.nodes[1]);
    NamedVariable variable = variable_of(record);
    auto [at, fresh] = lines.try_emplace({variable.name, lower, higher, record.same_value});
    RaceLine& line = at->second;
    std::uint64_t end = variable.offset + record.bytes;
    line.first = fresh ? variable.offset : std::min(line.first, variable.offset);
    line.end = std::max(line.end, end);
    line.times += record.times;
    if (!fresh) continue;
    line.variable = variable.name;
    line.same_value = record.same_value != 0;
    line.nodes[0] = lower;
    line.nodes[1] = higher;
  }
  std::vector<RaceLine> all;
  for (auto& [key, line] : lines) all.push_back(std::move(line));
  return all;
}

std::size_t count_races(std::span<const RaceLine> lines) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [](const RaceLine& l) { return !l.same_value; }));
}

std::vector<std::string> race_sentences(std::span<const RaceLine> lines, std::uint64_t left_out) {
  std::vector<std::string> all;
  for (const RaceLine& line : lines) {
    all.push_back(fmt::format(
        "data race: {}, {}: written by node {} and by node {}{}, {} time{}; no lock, barrier, join "
        "or flag orders the two",
        line.variable, bytes_of(line), line.nodes[0], line.nodes[1],
        line.same_value ? ", with the same value" : "", line.times, line.times == 1 ? "" : "s"));
  }
  if (left_out > 0)
    all.push_back(fmt::format("data races: {} more, for which there is no room here", left_out));
  std::size_t races = count_races(lines);
  std::size_t same = lines.size() - races;
  std::string of_same = same == 0 ? "" : fmt::format(", and {} of the same value", same);
  if (lines.empty()) {
    all.push_back("--check=races: no two nodes have written the same bytes without an order");
  } else {
    all.push_back(fmt::format(
        "--check=races: {} data race{} between nodes{}. Races between threads of one node are not "
        "looked for: ThreadSanitizer finds those, or give each thread a node of its own "
        "(-n THREADS --placement 1)",
        races, races == 1 ? "" : "s", of_same));
  }
  return all;
}

std::string race_json(std::span<const RaceLine> lines, std::uint64_t left_out) {
  std::string text = "{\"races\": [";
  for (const RaceLine& line : lines) {
    if (&line != lines.data()) text += ",";
    text += fmt::format(
        "\n  {{\"variable\": {}, \"first\": {}, \"end\": {}, \"nodes\": [{}, {}], "
        "\"times\": {}, \"same_value\": {}}}",
        quoted(line.variable), line.first, line.end, line.nodes[0], line.nodes[1], line.times,
        line.same_value);
  }
  return text + fmt::format("],\n \"left_out\": {}}}\n", left_out);
}

}  // namespace terrane::runtime
