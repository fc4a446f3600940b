#include "runtime/sharing_reporter.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "runtime/report_names.h"

namespace terrane::runtime {
namespace {

// The start of a node's contribution. What came first from each node follows, and then the records,
// each with its three masks.
struct Told {
  NodeTimes times;
  std::uint64_t left_out = 0;
};

template <typename T>
void put(std::vector<std::byte>& out, const T* from, std::size_t count) {
  std::size_t before = out.size();
  out.resize(before + count * sizeof(T));
  if (count > 0) std::memcpy(&out[before], from, count * sizeof(T));
}

template <typename T>
bool take(std::span<const std::byte>& from, T* to, std::size_t count) {
  if (from.size() < count * sizeof(T)) return false;
  if (count > 0) std::memcpy(to, from.data(), count * sizeof(T));
  from = from.subspan(count * sizeof(T));
  return true;
}

// Each node tells all others, so the more nodes, the fewer pages.
std::size_t most_records(std::uint32_t nodes, std::uint64_t page_bytes) {
  return std::max<std::size_t>((1 << 21) / nodes / page_bytes, 16);
}

std::vector<std::byte> contribution_of(const NodeTimes& times, SharingWatch* watch,
                                       const PageSpace& space) {
  std::vector<std::byte> out;
  Told mine{.times = times, .left_out = watch == nullptr ? 0 : watch->left_out()};
  put(out, &mine, 1);
  if (watch == nullptr) return out;
  for (std::uint32_t n = 0; n < space.nodes(); ++n) {
    std::uint64_t first = watch->first_from(NodeId{n});
    put(out, &first, 1);
  }
  for (const SharingRecord& one : watch->records(most_records(space.nodes(), space.unit()))) {
    put(out, &one.counts, 1);
    for (const PageMask* mask : {&one.mine, &one.theirs, &one.written})
      put(out, mask->data(), mask->size());
  }
  return out;
}

// All that the nodes have told.
struct Heard {
  std::vector<NodeTimes> times;
  std::vector<std::vector<std::uint64_t>> first_from;  // by the node to which pages came
  std::vector<NodeRecord> records;
  std::uint64_t left_out = 0;
};

// A contribution that is cut short has fewer records.
void add(std::uint32_t node, std::span<const std::byte> from, const PageSpace& space,
         bool is_watched, Heard& heard) {
  Told told;
  if (!take(from, &told, 1)) told = {};
  heard.times.push_back(told.times);
  heard.left_out += told.left_out;
  if (!is_watched) return;
  std::vector<std::uint64_t>& first = heard.first_from.emplace_back(space.nodes());
  if (!take(from, first.data(), first.size())) return;
  for (;;) {
    NodeRecord one{.node = node};
    if (!take(from, &one.record.counts, 1)) return;
    for (PageMask* mask : {&one.record.mine, &one.record.theirs, &one.record.written}) {
      mask->resize(space.unit() / 64);
      if (!take(from, mask->data(), mask->size())) return;
    }
    heard.records.push_back(std::move(one));
  }
}

void log(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) base::log_line(line);
}

void write(trace::EventLog& log, std::span<const SharingLine> lines,
           std::span<const std::string> slow,
           const std::function<std::uint64_t(std::uint64_t)>& address) {
  constexpr std::size_t kMostLines = 50;
  constexpr std::string_view kHead = "slow: ";
  for (std::string_view sentence : slow)
    log.note_text(trace::Event::kSlow, {}, sentence.substr(kHead.size()));
  for (const SharingLine& line : lines.first(std::min(lines.size(), kMostLines)))
    log.note_text(trace::Event::kShared,
                  {.object = address(line.offset + draw(line).first),
                   .value = line.all().waited_ns,
                   .kind = static_cast<std::uint8_t>(line.kind),
                   .detail = matters(line)},
                  sharing_record(line));
}

}  // namespace

void SharingReporter::report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
                             const ProgramNames& names, const NodeTimes& times, SharingWatch* watch,
                             trace::EventLog* event_log) {
  if (space.nodes() < 2) return;
  auto all = job.exchange(contribution_of(times, watch, space), {});
  if (space.self() != NodeId{0}) return;
  if (!all) {
    base::log("what other nodes have seen is not known: {}", all.error().message);
    return;
  }
  Heard heard;
  for (std::uint32_t n = 0; n < all.value().size(); ++n)
    add(n, all.value()[n].bytes, space, watch != nullptr, heard);
  auto variable = [&](std::uint64_t offset) { return variable_of(offset, space, engine, names); };
  auto address = [&](std::uint64_t offset) {
    return reinterpret_cast<std::uint64_t>(space.address_of(offset / space.unit())) +
           offset % space.unit();
  };
  auto name_of = [&](std::uint64_t token) { return name_of_lock(token, names); };
  std::vector<SharingLine> lines =
      sharing_lines(heard.records, heard.times, space.unit(), variable);
  std::vector<SlowSentence> sentences = slow_sentences(heard.times, heard.first_from, name_of);
  for (SlowSentence& one : slow_pages(lines)) sentences.push_back(std::move(one));
  std::vector<std::string> slow = slow_lines(std::move(sentences));
  if (event_log != nullptr) write(*event_log, lines, slow, address);
  if (checks_) {
    found_ = count_false(lines);
    log(sharing_texts(lines, heard.left_out, address));
    write_check_output(output_, sharing_json(lines, slow, heard.left_out, address));
  }
  if (checks_ || has_stats_) log(slow);
}

}  // namespace terrane::runtime
