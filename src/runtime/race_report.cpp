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

std::string one_access(const RaceLine& line, std::size_t i) {
  std::string at = line.places[i].empty() ? "" : " at " + line.places[i];
  return fmt::format("{} by node {}{}", line.writes[i] ? "written" : "read", line.nodes[i], at);
}

std::string accesses_of(const RaceLine& line) {
  std::string second = one_access(line, 1);
  bool is_same = line.writes[0] && line.writes[1];
  if (is_same) second = second.substr(sizeof("written"));
  return one_access(line, 0) + " and " + second;
}

// What would order the two, as far as their places show it.
std::string remedy_of(const RaceLine& line) {
  if (line.places[0].empty()) return "";
  if (line.places[0] == line.places[1])
    return ": let one of the nodes do it, or put a lock or an atomic operation around it";
  return ": put a barrier between them, or a lock around both";
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

void add_accesses(std::span<const protocol::AccessRace> races,
                  const std::function<NamedVariable(std::uint64_t offset)>& variable_of,
                  const std::function<std::string(std::uint64_t code)>& place_of,
                  std::vector<RaceLine>& lines) {
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, bool, bool>;
  std::map<Key, std::size_t> known;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Key key{lines[i].variable, lines[i].nodes[0], lines[i].nodes[1], true, true};
    // Where two values were put as well, that is what matters.
    auto [at, fresh] = known.try_emplace(key, i);
    if (!fresh && !lines[i].same_value) at->second = i;
  }
  for (const protocol::AccessRace& race : races) {
    NamedVariable variable = variable_of(race.first);
    Key key{variable.name, race.one.node.value, race.other.node.value, race.one.is_write,
            race.other.is_write};
    auto [at, fresh] = known.try_emplace(key, lines.size());
    if (fresh) lines.emplace_back();
    RaceLine& line = lines[at->second];
    std::uint64_t end = variable.offset + race.bytes;
    line.first = fresh ? variable.offset : std::min(line.first, variable.offset);
    line.end = std::max(line.end, end);
    if (fresh || !(race.one.is_write && race.other.is_write)) line.times += race.times;
    if (line.places[0].empty()) {
      line.places[0] = place_of(race.one.place);
      line.places[1] = place_of(race.other.place);
    }
    if (!fresh) continue;
    line.variable = variable.name;
    line.nodes[0] = race.one.node.value;
    line.nodes[1] = race.other.node.value;
    line.writes[0] = race.one.is_write;
    line.writes[1] = race.other.is_write;
  }
}

std::size_t count_races(std::span<const RaceLine> lines) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [](const RaceLine& l) { return !l.same_value; }));
}

std::vector<std::string> race_sentences(std::span<const RaceLine> lines, std::uint64_t left_out,
                                        bool with_reads) {
  std::vector<std::string> all;
  for (const RaceLine& line : lines) {
    all.push_back(
        fmt::format("data race: {}, {}: {}{}, {} time{}; no lock, barrier, join or flag "
                    "orders the two{}",
                    line.variable, bytes_of(line), accesses_of(line),
                    line.same_value ? ", with the same value" : "", line.times,
                    line.times == 1 ? "" : "s", remedy_of(line)));
  }
  if (left_out > 0)
    all.push_back(fmt::format("data races: {} more, for which there is no room here", left_out));
  std::size_t races = count_races(lines);
  std::size_t same = lines.size() - races;
  std::string of_same = same == 0 ? "" : fmt::format(", and {} of the same value", same);
  if (lines.empty()) {
    all.push_back(fmt::format("--check={}: no two nodes have {} the same bytes without an order",
                              with_reads ? "races=reads" : "races",
                              with_reads ? "accessed" : "written"));
  } else {
    all.push_back(fmt::format(
        "--check={}: {} data race{} between nodes{}. Races between threads of one node are not "
        "looked for: ThreadSanitizer finds those, or give each thread a node of its own "
        "(-n THREADS --placement 1)",
        with_reads ? "races=reads" : "races", races, races == 1 ? "" : "s", of_same));
  }
  return all;
}

std::string race_json(std::span<const RaceLine> lines, std::uint64_t left_out) {
  std::string text = "{\"races\": [";
  for (const RaceLine& line : lines) {
    if (&line != lines.data()) text += ",";
    text += fmt::format(
        "\n  {{\"variable\": {}, \"first\": {}, \"end\": {}, \"nodes\": [{}, {}], "
        "\"accesses\": [{}, {}], \"places\": [{}, {}], \"times\": {}, \"same_value\": {}}}",
        quoted(line.variable), line.first, line.end, line.nodes[0], line.nodes[1],
        quoted(line.writes[0] ? "write" : "read"), quoted(line.writes[1] ? "write" : "read"),
        quoted(line.places[0]), quoted(line.places[1]), line.times, line.same_value);
  }
  return text + fmt::format("],\n \"left_out\": {}}}\n", left_out);
}

}  // namespace terrane::runtime
