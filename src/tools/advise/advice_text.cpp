// An advice as a page for people, and as JSON.
#include <fmt/format.h>

#include "tools/advise/advice.h"
#include "tools/json_text.h"

namespace terrane::tools::advise {
namespace {

std::string seconds(std::uint64_t ns) {
  double s = static_cast<double>(ns) / 1e9;
  return s < 0.0995 ? fmt::format("{:.1f} ms", s * 1000) : fmt::format("{:.2f} s", s);
}

std::string size_text(std::uint64_t bytes) {
  double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

std::string memory_text(const Advice& advice, const Question& question) {
  const Point& best = advice.points[advice.best];
  std::string most = size_text(best.most_bytes);
  std::string text =
      fmt::format("memory: all threads use {} of shared pages; ", size_text(advice.used_bytes)) +
      (best.nodes == 1 ? fmt::format("one node holds {}", most)
                       : fmt::format("of {} nodes each holds at most {}", best.nodes, most));
  if (question.memory_bytes == 0) return text + "\n";
  if (best.most_bytes <= question.memory_bytes)
    return text + fmt::format(": that fits {} a node\n", size_text(question.memory_bytes));
  return text + fmt::format(
                    ": {} a node is too little, and nodes would evict pages; the forecast "
                    "does not count that\n",
                    size_text(question.memory_bytes));
}

}  // namespace

std::string as_text(const Advice& advice, const RecordedProgram& program,
                    const Question& question) {
  std::string text = fmt::format(
      "recorded on {} nodes: {} of computing in all; forecast for nodes with {} processor{} each, "
      "{:g} us there and back, {:.0f} MB/s\n\n",
      program.nodes(), seconds(program.computing()), question.processors,
      question.processors == 1 ? "" : "s", question.round_trip_us, question.bytes_per_second / 1e6);
  text +=
      "  nodes      time  speed-up   computing    pages    locks barriers    other   sent in "
      "all  a node holds\n";
  for (std::size_t i = 0; i < advice.points.size(); ++i) {
    const Point& at = advice.points[i];
    text += fmt::format(
        "{} {:>5} {:>9} {:>9.2f}  {:>8.0f} % {:>6.0f} % {:>6.0f} % {:>6.0f} % "
        "{:>6.0f} %  {:>11}  {:>11}\n",
        i == advice.best ? ">" : " ", at.nodes, seconds(at.ns), at.speedup, 100 * at.computing,
        100 * at.faults, 100 * at.locks, 100 * at.barriers, 100 * at.others, size_text(at.bytes),
        size_text(at.most_bytes));
  }
  text += fmt::format("\nlimit: {}\n", advice.limit);
  for (const Matter& matter : advice.matters)
    text += fmt::format("  {}: {:.0f} % of the time of threads, {} times\n    {}:\n    {}\n",
                        matter.name, 100 * matter.share, matter.times, matter.what, matter.remedy);
  return text + memory_text(advice, question);
}

std::string as_json(const Advice& advice, const Question& question) {
  std::string text = fmt::format(
      "{{\"round_trip_us\": {:g}, \"bytes_per_second\": {:.0f}, \"processors\": {}, \"best\": {}, "
      "\"limit\": {}, \"used_bytes\": {}, \"points\": [",
      question.round_trip_us, question.bytes_per_second, question.processors,
      advice.points[advice.best].nodes, json_text(advice.limit), advice.used_bytes);
  for (std::size_t i = 0; i < advice.points.size(); ++i) {
    const Point& at = advice.points[i];
    text += fmt::format(
        "{}{{\"nodes\": {}, \"seconds\": {:.6f}, \"speedup\": {:.3f}, \"computing\": {:.4f}, "
        "\"pages\": {:.4f}, \"locks\": {:.4f}, \"barriers\": {:.4f}, \"others\": {:.4f}, "
        "\"messages\": {}, \"bytes\": {}, \"node_bytes\": {}}}",
        i == 0 ? "" : ", ", at.nodes, static_cast<double>(at.ns) / 1e9, at.speedup, at.computing,
        at.faults, at.locks, at.barriers, at.others, at.messages, at.bytes, at.most_bytes);
  }
  text += "], \"matters\": [";
  for (std::size_t i = 0; i < advice.matters.size(); ++i) {
    const Matter& matter = advice.matters[i];
    text += fmt::format(
        "{}{{\"name\": {}, \"what\": {}, \"remedy\": {}, \"share\": {:.4f}, \"times\": {}}}",
        i == 0 ? "" : ", ", json_text(matter.name), json_text(matter.what),
        json_text(matter.remedy), matter.share, matter.times);
  }
  return text + "]}";
}

}  // namespace terrane::tools::advise
