#include "runtime/sharing_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "runtime/report_names.h"

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kLeastTimes = 10;
constexpr std::uint64_t kFrequent = 100;    // times, and times a second
constexpr double kLeastShare = 0.0005;      // of a node's time, of false sharing
constexpr double kLeastOtherShare = 0.001;  // of what other places of data do not mend
constexpr std::size_t kMostLines = 8;
constexpr std::size_t kMostWriters = 4;  // that a line names
constexpr std::uint32_t kMostLetters = 64;

using OfPage = std::vector<const NodeRecord*>;
using Masks = std::map<std::uint32_t, PageMask>;  // by node

bool any(const PageMask& mask) {
  return std::any_of(mask.begin(), mask.end(), [](std::uint64_t bits) { return bits != 0; });
}

void add(Masks& masks, std::uint32_t node, const PageMask& more) {
  if (!any(more)) return;
  PageMask& mask = masks.try_emplace(node, more.size()).first->second;
  for (std::size_t w = 0; w < more.size(); ++w) mask[w] |= more[w];
}

bool has(const PageMask& mask, std::uint32_t byte) {
  return byte / 64 < mask.size() && (mask[byte / 64] >> byte % 64 & 1) != 0;
}

PageMask common(const PageMask& one, const PageMask& other) {
  PageMask both(one.size());
  for (std::size_t w = 0; w < one.size() && w < other.size(); ++w) both[w] = one[w] & other[w];
  return both;
}

// Which nodes write what: each by what it has sent, and the home by what has changed beside that.
// homes: the nodes that are known as homes alone.
Masks writers_of(const OfPage& page, std::set<std::uint32_t>& homes) {
  Masks masks;
  for (const NodeRecord* one : page) add(masks, one->node, one->record.mine);
  for (const NodeRecord* one : page) {
    const SharingRecord& record = one->record;
    PageMask rest = record.theirs;
    for (const NodeRecord* other : page) {
      if (other == one) continue;
      PageMask both = common(record.theirs, other->record.written);
      add(masks, other->node, both);
      for (std::size_t w = 0; w < both.size(); ++w) rest[w] &= ~both[w];
    }
    if (!any(rest)) continue;
    std::uint32_t home = record.counts.homes[static_cast<std::size_t>(record.counts.kind())];
    if (home >= SharingCounts::kSeveral) home = PageWriter::kOthers;
    if (home != PageWriter::kOthers) homes.insert(home);
    add(masks, home, rest);
  }
  return masks;
}

bool overlap(const Masks& masks) {
  for (auto one = masks.begin(); one != masks.end(); ++one)
    for (auto other = std::next(one); other != masks.end(); ++other)
      if (any(common(one->second, other->second))) return true;
  return false;
}

// Where homes move between writers, no node finds changes of others in a page that it has sent.
SharingKind kind_of(const OfPage& page, const Masks& masks, std::size_t homes) {
  std::uint64_t times[kSharingKinds] = {};
  for (const NodeRecord* one : page)
    for (std::size_t k = 0; k < kSharingKinds; ++k) times[k] += one->record.counts.again[k];
  std::uint64_t apart = times[0], same = times[1];
  if (10 * (apart + same) >= apart + same + times[2] && apart + same > 0)
    return apart > same ? SharingKind::kApart : SharingKind::kSame;
  if (homes < 2) return SharingKind::kRead;
  return overlap(masks) ? SharingKind::kSame : SharingKind::kApart;
}

PageWriter writer_of(std::uint32_t node, const PageMask& mask, std::uint64_t page_begin,
                     const std::function<NamedVariable(std::uint64_t)>& variable) {
  PageWriter writer{.node = node, .bytes = mask};
  std::uint32_t bytes = static_cast<std::uint32_t>(mask.size() * 64);
  while (!has(mask, writer.first)) ++writer.first;
  for (writer.end = bytes; !has(mask, writer.end - 1);) --writer.end;
  writer.variable = variable(page_begin + writer.first);
  writer.last = variable(page_begin + writer.end - 1).name;
  return writer;
}

SharingLine line_of(const OfPage& page, std::size_t page_bytes,
                    const std::function<NamedVariable(std::uint64_t)>& variable) {
  std::set<std::uint32_t> homes;
  Masks masks = writers_of(page, homes);
  SharingLine line;
  line.kind = kind_of(page, masks, homes.size());
  line.offset = page.front()->record.counts.block * page_bytes;
  line.pages = 1;
  for (const auto& [node, mask] : masks)
    line.writers.push_back(writer_of(node, mask, line.offset, variable));
  for (const NodeRecord* one : page) {
    const SharingCounts& counts = one->record.counts;
    line.costs[one->node] = {counts.changed(), counts.flushed, counts.waited_ns};
  }
  return line;
}

std::string key_of(const SharingLine& line) {
  std::string key = fmt::format("{}", static_cast<std::uint32_t>(line.kind));
  for (const PageWriter& writer : line.writers)
    key += fmt::format(" {} {} {}", writer.node, writer.variable.name, writer.last);
  return key;
}

// The same variables, in another page.
void join(SharingLine& line, const SharingLine& other) {
  line.pages += other.pages;
  for (const auto& [node, cost] : other.costs) {
    SharingLine::Cost& sum = line.costs[node];
    sum.again += cost.again;
    sum.flushed += cost.flushed;
    sum.waited_ns += cost.waited_ns;
  }
}

void find_waiter(SharingLine& line, std::span<const NodeTimes> times) {
  std::uint64_t elapsed_ns = 1;
  for (const NodeTimes& node : times) elapsed_ns = std::max(elapsed_ns, node.elapsed_ns);
  line.per_second = static_cast<double>(line.all().again) * 1e9 / static_cast<double>(elapsed_ns);
  for (const auto& [node, cost] : line.costs) {
    double share = node < times.size() ? times[node].share_of(cost.waited_ns) : 0;
    if (share <= line.share) continue;
    line.share = share;
    line.waiter = node;
  }
}

std::string node_text(std::uint32_t node) {
  return node == PageWriter::kOthers ? "another node" : fmt::format("node {}", node);
}

std::string bytes_text(const PageWriter& writer) {
  if (writer.last != writer.variable.name)
    return fmt::format("{} to {}", writer.variable.name, writer.last);
  std::uint64_t first = writer.variable.offset, bytes = writer.end - writer.first;
  if (bytes == 1) return fmt::format("{}, byte {}", writer.variable.name, first);
  return fmt::format("{}, bytes {} to {}", writer.variable.name, first, first + bytes - 1);
}

std::string writers_text(const SharingLine& line) {
  std::string text;
  for (std::size_t i = 0; i < line.writers.size() && i < kMostWriters; ++i) {
    const PageWriter& writer = line.writers[i];
    text += fmt::format("{}{} writes {}", i > 0 ? "; " : "", node_text(writer.node),
                        bytes_text(writer));
  }
  if (line.writers.size() > kMostWriters)
    text += fmt::format("; and so do {} more nodes", line.writers.size() - kMostWriters);
  return text;
}

const char* kind_text(SharingKind kind) {
  if (kind == SharingKind::kApart) return "false sharing";
  return kind == SharingKind::kSame ? "true sharing" : "one writer";
}

// The variables of a line, once each.
std::string names_of(const SharingLine& line) {
  std::set<std::string> names;
  for (const PageWriter& writer : line.writers) names.insert({writer.variable.name, writer.last});
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

bool has_several_variables(const SharingLine& line) {
  std::set<std::string> names;
  for (const PageWriter& writer : line.writers) names.insert(writer.variable.name);
  return names.size() > 1;
}

// Whether each writer has one part of the page, and all parts together fill most of it.
bool meets_inside(const SharingLine& line) {
  std::uint32_t first = ~0u, end = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;
  for (const PageWriter& writer : line.writers) {
    parts.push_back({writer.first, writer.end});
    first = std::min(first, writer.first);
    end = std::max(end, writer.end);
  }
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].first < parts[i - 1].second) return false;
  std::size_t page_bytes = line.writers.empty() ? 0 : line.writers[0].bytes.size() * 64;
  return end > first && 2 * static_cast<std::size_t>(end - first) >= page_bytes;
}

std::string head_of(const SharingLine& line) {
  std::string more = line.pages > 1 ? fmt::format(" (and {} more pages)", line.pages - 1) : "";
  SharingLine::Cost all = line.all();
  std::string text =
      fmt::format("{}: {}, in one page{}: it came again {} times, with {} differences sent",
                  kind_text(line.kind), writers_text(line), more, all.again, all.flushed);
  auto waiter = line.costs.find(line.waiter);
  if (line.share <= 0 || waiter == line.costs.end()) return text;
  const SharingLine::Cost& cost = waiter->second;
  double us = static_cast<double>(cost.waited_ns) / 1000;
  text += fmt::format("; node {} waited {:.1f} ms for it, {} of its time", line.waiter, us / 1000,
                      percent(line.share));
  if (cost.again > 0)
    text += fmt::format(", {:.1f} us each time", us / static_cast<double>(cost.again));
  return text;
}

}  // namespace

SharingLine::Cost SharingLine::all() const {
  Cost sum;
  for (const auto& [node, cost] : costs) {
    sum.again += cost.again;
    sum.flushed += cost.flushed;
    sum.waited_ns += cost.waited_ns;
  }
  return sum;
}

std::vector<SharingLine> sharing_lines(
    std::span<const NodeRecord> records, std::span<const NodeTimes> times, std::size_t page_bytes,
    const std::function<NamedVariable(std::uint64_t)>& variable) {
  std::map<std::uint64_t, OfPage> pages;
  for (const NodeRecord& one : records) pages[one.record.counts.block].push_back(&one);
  std::vector<SharingLine> each;
  for (const auto& [block, page] : pages) {
    bool changes = std::any_of(page.begin(), page.end(), [](const NodeRecord* one) {
      return one->record.counts.changed() > 0;
    });
    if (changes) each.push_back(line_of(page, page_bytes, variable));
  }
  auto costs_more = [](const SharingLine& a, const SharingLine& b) {
    return a.all().waited_ns > b.all().waited_ns;
  };
  std::stable_sort(each.begin(), each.end(), costs_more);
  std::map<std::string, std::size_t> known;
  std::vector<SharingLine> lines;
  for (SharingLine& line : each) {
    auto [at, is_new] = known.try_emplace(key_of(line), lines.size());
    if (is_new) {
      lines.push_back(std::move(line));
    } else {
      join(lines[at->second], line);
    }
  }
  for (SharingLine& line : lines) find_waiter(line, times);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const SharingLine& a, const SharingLine& b) { return a.share > b.share; });
  return lines;
}

bool matters(const SharingLine& line) {
  double least = line.kind == SharingKind::kApart ? kLeastShare : kLeastOtherShare;
  bool is_frequent = line.all().again >= kFrequent && line.per_second >= kFrequent;
  return is_frequent || (line.all().again >= kLeastTimes && line.share >= least);
}

std::size_t count_false(std::span<const SharingLine> lines) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.kind == SharingKind::kApart && matters(line);
  }));
}

std::string remedy(const SharingLine& line) {
  if (line.kind == SharingKind::kSame)
    return "the nodes need each other's values, so padding does not help: change it less often, "
           "such as once for each thread after a sum of its own";
  if (line.kind == SharingKind::kRead)
    return "the readers get what another node has written, so padding does not help: write it "
           "less often, and keep what is only read on other pages";
  if (has_several_variables(line))
    return fmt::format("put {} on pages of their own: alignas(4096)", names_of(line));
  if (meets_inside(line))
    return "let the parts of the nodes meet at the edge of a page: rows or blocks of a multiple of "
           "4096 bytes, in memory that alignas(4096) or aligned_alloc(4096, ...) aligns";
  return "give what each node writes pages of its own: elements of 4096 bytes by alignas(4096), "
         "or one block of neighbours for each thread; or add up in a local variable";
}

Drawing draw(const SharingLine& line) {
  Drawing drawing;
  std::uint32_t first = ~0u, end = 0;
  for (const PageWriter& writer : line.writers) {
    first = std::min(first, writer.first);
    end = std::max(end, writer.end);
  }
  if (end == 0) return drawing;
  auto begins_at = [&] { return first / drawing.scale * drawing.scale; };
  while (end - begins_at() > kMostLetters * drawing.scale) drawing.scale *= 2;
  drawing.first = begins_at();
  for (std::uint32_t at = drawing.first; at < end; at += drawing.scale) {
    char letter = '.';
    for (const PageWriter& writer : line.writers) {
      bool writes = false;
      for (std::uint32_t i = at; i < at + drawing.scale; ++i)
        writes = writes || has(writer.bytes, i);
      if (!writes) continue;
      char own = writer.node < 10   ? static_cast<char>('0' + writer.node)
                 : writer.node < 36 ? static_cast<char>('a' + (writer.node - 10))
                                    : '+';
      letter = letter == '.' ? own : '*';
    }
    drawing.letters += letter;
  }
  return drawing;
}

std::vector<std::string> sharing_texts(std::span<const SharingLine> lines, std::uint64_t left_out,
                                       const std::function<std::uint64_t(std::uint64_t)>& address) {
  std::vector<std::string> all;
  std::size_t shown = 0, further = 0;
  for (const SharingLine& line : lines) {
    if (!matters(line)) continue;
    if (++shown > kMostLines) {
      ++further;
      continue;
    }
    all.push_back(head_of(line));
    Drawing drawing = draw(line);
    all.push_back(fmt::format("  at {:#x}, {} byte{} a letter: |{}|",
                              address(line.offset + drawing.first), drawing.scale,
                              drawing.scale == 1 ? "" : "s", drawing.letters));
    all.push_back("  remedy: " + remedy(line));
  }
  if (further > 0)
    all.push_back(fmt::format("  and {} more such lines, in the file of --check-output", further));
  if (left_out > 0)
    all.push_back(
        fmt::format("  pages came again {} more times, for which there is no room here", left_out));
  std::size_t found = count_false(lines);
  all.push_back(found == 0 ? "--check=sharing: no false sharing that costs time"
                           : fmt::format("--check=sharing: {} case{} of false sharing", found,
                                         found == 1 ? "" : "s"));
  return all;
}

std::string sharing_record(const SharingLine& line) {
  SharingLine::Cost all = line.all();
  Drawing drawing = draw(line);
  return fmt::format("{}\n{} {} {} {}\n{}\n{}", writers_text(line), all.again, all.flushed,
                     line.pages, drawing.scale, drawing.letters, remedy(line));
}

std::vector<SlowSentence> slow_pages(std::span<const SharingLine> lines) {
  for (const SharingLine& line : lines) {
    if (!matters(line)) continue;
    auto waiter = line.costs.find(line.waiter);
    return {{line.share, waiter == line.costs.end() ? 0 : waiter->second.waited_ns,
             fmt::format("node {} waited {} of its time for the page{} of {}, which came again {} "
                         "times: {}",
                         line.waiter, percent(line.share), line.pages > 1 ? "s" : "",
                         names_of(line), line.all().again, kind_text(line.kind))}};
  }
  return {};
}

std::string sharing_json(std::span<const SharingLine> lines, std::span<const std::string> slow,
                         std::uint64_t left_out,
                         const std::function<std::uint64_t(std::uint64_t)>& address) {
  std::string text = "{\"sharing\": [";
  for (const SharingLine& line : lines) {
    if (&line != lines.data()) text += ",";
    SharingLine::Cost all = line.all();
    text += fmt::format(
        "\n  {{\"kind\": {}, \"matters\": {}, \"page\": {}, \"pages\": {}, \"again\": {}, "
        "\"differences\": {}, \"waiter\": {}, \"waited_us\": {}, \"share\": {:.6f}, \"writers\": [",
        quoted(kind_text(line.kind)), matters(line), address(line.offset), line.pages, all.again,
        all.flushed, line.waiter, all.waited_ns / 1000, line.share);
    for (const PageWriter& writer : line.writers) {
      if (&writer != line.writers.data()) text += ", ";
      text += fmt::format(
          "{{\"node\": {}, \"variable\": {}, \"offset\": {}, \"first\": {}, "
          "\"end\": {}}}",
          writer.node == PageWriter::kOthers ? -1 : static_cast<int>(writer.node),
          quoted(writer.variable.name), writer.variable.offset, writer.first, writer.end);
    }
    text += fmt::format("], \"drawing\": {}, \"remedy\": {}}}", quoted(draw(line).letters),
                        quoted(remedy(line)));
  }
  text += "],\n \"slow\": [";
  for (const std::string& sentence : slow)
    text += fmt::format("{}{}", &sentence == slow.data() ? "" : ", ", quoted(sentence));
  return text + fmt::format("],\n \"left_out\": {}}}\n", left_out);
}

}  // namespace terrane::runtime
