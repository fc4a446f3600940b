#include "tools/report/page_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "tools/report/call_section.h"
#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace terrane::tools::report {
namespace {

using namespace runtime::trace;

constexpr std::size_t kMostStrips = 48;  // with more threads, a strip is a node's
constexpr std::size_t kMostRows = 30, kMostShared = 20, kMostBars = 24;
constexpr int kStripHeight = 20;

constexpr std::string_view kComputing = "#5aa469";
constexpr std::string_view kColours[kTimeKinds] = {"#d9534f", "#f0b95b", "#7fb2dd", "#a98bd6",
                                                   "#9aa0a6"};
// Of nodes and of regions, in turn.
constexpr std::string_view kTurns[] = {"#3b7dd8", "#e08a1e", "#3a9d5d", "#c0398f",
                                       "#7a5bd0", "#b5402f", "#2f9aa0", "#8a8d2b"};
constexpr std::string_view kSharings[] = {"false sharing", "true sharing", "one writer"};

std::string_view turn(std::uint64_t number) { return kTurns[number % std::size(kTurns)]; }

std::uint64_t count_of(const MemoryTotals& one, MemoryCount kind) {
  return one.counts[static_cast<std::size_t>(kind)];
}

class Section {
 public:
  Section(const JobLog& job, const PageTotals& totals) : job_(job), totals_(totals) {}

  std::string write() {
    strips();
    regions();
    text_ += call_tables(totals_);
    shared_pages();
    locks();
    memory();
    homes();
    matrix();
    waits();
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void begin_table(std::string_view title, std::string_view id, std::string_view heads) {
    put("<h2>{}</h2>\n<table id=\"{}\"><tr>{}</tr>\n", title, id, heads);
  }
  void end_table(std::size_t all, std::size_t shown, std::string_view what) {
    text_ += "</table>\n";
    if (all > shown) put("<p>{} more {} are not shown.</p>\n", all - shown, what);
  }

  // ---- Threads over time

  void strips() {
    std::vector<Strip> shown = totals_.strips;
    auto programs = std::ranges::count_if(shown, [](const Strip& one) { return one.is_program; });
    bool is_many = static_cast<std::size_t>(programs) > kMostStrips;
    if (is_many) shown = strips_of_nodes(shown);
    std::erase_if(shown, [](const Strip& one) {
      bool serves = one.all[static_cast<std::size_t>(TimeKind::kHandler)] > 0;
      return one.lived_ns <= 0 || !(one.is_program || serves);
    });
    put("<h2>What {} did over time</h2>\n<p class=\"key\"><span style=\"background:{}\"></span>"
        "computing",
        is_many ? "the threads of each node" : "each thread", kComputing);
    for (std::size_t kind = 0; kind < (totals_.has_pages ? kTimeKinds : kKindsOfShmem); ++kind)
      put("<span style=\"background:{}\"></span>{}", kColours[kind], kind_in_key(kind));
    text_ += "</p>\n<div id=\"strips\">\n";
    region_strip();
    for (const Strip& strip : shown) draw(strip);
    axis();
    text_ += "</div>\n";
    if (totals_.waits_without_record > 0)
      put("<p>{} long waits have no record of their own, for lack of room; their time is in the "
          "strips.</p>\n",
          totals_.waits_without_record);
  }

  void begin_strip(std::string_view name) {
    put("<div class=\"strip\"><span>{}</span><svg viewBox=\"0 0 {} {}\" "
        "preserveAspectRatio=\"none\"><rect class=\"plot\" width=\"{}\" height=\"{}\"/>",
        name, kStripPoints, kStripHeight, kStripPoints, kStripHeight);
  }
  void end_strip(std::string_view behind) { put("</svg><span>{}</span></div>\n", behind); }

  // A colour may stand for a kind of shared pages and one of OpenSHMEM.
  std::string kind_in_key(std::size_t kind) const {
    if (!totals_.has_shmem || kind >= kKindsOfShmem) return std::string(name_of_kind(false, kind));
    std::string of_shmem(name_of_kind(true, kind));
    return totals_.has_pages ? fmt::format("{} or {}", name_of_kind(false, kind), of_shmem)
                             : of_shmem;
  }

  std::string title_of(const Strip& strip) const {
    std::uint32_t node = job_.logs[strip.log].node;
    std::string_view where = strip.is_shmem ? "PE" : "node";
    if (strip.threads > 1) return fmt::format("{} {}, {} threads", where, node, strip.threads);
    if (strip.is_shmem && strip.number == 0) return fmt::format("PE {}", node);
    return fmt::format("{} {} {}", where, node, escaped(strip.name));
  }

  // The share of a step that each kind has, the lowest of the drawing first.
  static std::array<double, kTimeKinds + 1> shares(const Strip::Step& step) {
    std::array<double, kTimeKinds + 1> all{};
    double sum = std::accumulate(step.ns.begin(), step.ns.end(), 0.0);
    double whole = std::max(sum, step.lived_ns);
    for (std::size_t kind = 0; kind < kTimeKinds && whole > 0; ++kind)
      all[kind] = step.ns[kind] / whole;
    if (whole > 0) all[kTimeKinds] = (whole - sum) / whole;
    return all;
  }

  // An area for each kind, one upon the other.
  void draw(const Strip& strip) {
    begin_strip(title_of(strip));
    for (std::size_t kind = strip.is_program ? kTimeKinds + 1 : kTimeKinds; kind-- > 0;) {
      if (kind < kTimeKinds && strip.all[kind] <= 0) continue;
      std::string path = area(strip, kind);
      if (path.empty()) continue;
      double ns = kind < kTimeKinds ? strip.all[kind] : strip.computing();
      put("<path fill=\"{}\" d=\"{}\"><title>{}: {}, {}</title></path>",
          kind < kTimeKinds ? kColours[kind] : kComputing, path,
          kind < kTimeKinds ? name_of_kind(strip.is_shmem, kind) : "computing",
          time_text(static_cast<std::uint64_t>(ns)), share_text(ns, strip.lived_ns));
    }
    end_strip(strip.is_program ? share_text(strip.computing(), strip.lived_ns) : "");
  }

  // From the bottom up to the height of this kind and all below it.
  static std::string area(const Strip& strip, std::size_t kind) {
    std::string path;
    double last = 0;
    for (std::size_t at = 0; at < kStripPoints; ++at) {
      auto all = shares(strip.steps[at]);
      double sum =
          std::accumulate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kind) + 1, 0.0);
      double height = sum * kStripHeight;
      if (std::abs(height - last) < 0.1) continue;
      if (path.empty()) path = fmt::format("M{} {}", at, kStripHeight);
      fmt::format_to(std::back_inserter(path), "H{}V{:.1f}", at, kStripHeight - height);
      last = height;
    }
    return path.empty() ? path : path + fmt::format("H{}V{}Z", kStripPoints, kStripHeight);
  }

  void region_strip() {
    const auto& at = totals_.region_at;
    if (at.empty()) return;
    begin_strip("regions");
    for (std::size_t from = 0, to = 0; from < at.size(); from = to) {
      for (to = from; to < at.size() && at[to] == at[from]; ++to) {
      }
      if (at[from] == 0) continue;
      auto name = totals_.region_names.find(at[from] - 1);
      put("<rect x=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>", from,
          to - from, kStripHeight, turn(at[from] - 1),
          name == totals_.region_names.end() ? "a region" : escaped(name->second));
    }
    end_strip("");
  }

  void axis() {
    constexpr std::uint64_t kTicks = 4;
    text_ += "<div class=\"strip axis\"><span></span><p>";
    for (std::uint64_t tick = 0; tick <= kTicks; ++tick)
      put("<span>{}</span>", time_text(job_.length_ns / kTicks * tick));
    text_ += "</p><span>computing</span></div>\n";
  }

  // ---- Tables

  void regions() {
    if (totals_.regions.empty()) return;
    begin_table("Parallel regions", "regions",
                "<th>region</th><th>calls</th><th>time</th><th>of the run</th><th>faults</th>"
                "<th>pages fetched</th><th>differences sent</th><th>messages</th>");
    std::size_t shown = 0;
    for (const RegionTotals& one : totals_.regions) {
      if (shown++ == kMostRows) break;
      auto count = [&](RegionCount kind) { return one.counts[static_cast<std::size_t>(kind)]; };
      std::uint64_t number = 0;
      for (const auto& [at, name] : totals_.region_names)
        if (name == one.place) number = at;
      put("<tr><td><span class=\"box\" style=\"background:{}\"></span>{}</td><td>{}</td><td>{}</td>"
          "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          turn(number), escaped(one.place), count(RegionCount::kCalls), time_text(one.ns),
          share_text(static_cast<double>(one.ns), static_cast<double>(job_.length_ns)),
          count(RegionCount::kFaults), count(RegionCount::kFetched),
          bytes_text(count(RegionCount::kFlushedBytes)), count(RegionCount::kMessages));
    }
    end_table(totals_.regions.size(), kMostRows, "regions");
    how_to_name(totals_.regions, [](const RegionTotals& one) { return one.place; });
  }

  // Lines look like "file.c:12"; without debug information there are functions or addresses.
  template <typename All, typename Name>
  void how_to_name(const All& all, Name name_of) {
    bool is_bare = std::ranges::any_of(all, [&](const auto& one) {
      std::string name = name_of(one);
      return name.find("0x") != std::string::npos || name == "static data";
    });
    if (is_bare)
      text_ +=
          "<p class=\"hint\">Addresses stand where the program has no names: compile with -g, do "
          "not strip it, and install addr2line (binutils).</p>\n";
  }

  void shared_pages() {
    if (totals_.shared.empty()) return;
    text_ += "<h2>Pages that nodes pass to and fro</h2>\n<div id=\"shared\">\n";
    std::size_t shown = 0;
    for (const SharedPages& one : totals_.shared) {
      if (!one.matters && shown > 0) continue;
      if (shown++ == kMostShared) break;
      put("<p><b>{}</b>: {}{}. Came again {} times, {} differences sent, waited {}.</p>\n",
          kSharings[std::min<std::size_t>(one.kind, 2)], escaped(one.writers),
          one.pages > 1 ? fmt::format(" (and {} more pages)", one.pages - 1) : "", one.again,
          one.differences, time_text(one.wait_ns));
      draw(one);
      put("<p class=\"hint\">Remedy: {}.</p>\n", escaped(one.remedy));
    }
    text_ += "</div>\n";
    how_to_name(totals_.shared, [](const SharedPages& one) { return one.writers; });
  }

  // The bytes of each node to scale: a letter is a node.
  void draw(const SharedPages& one) {
    put("<p class=\"bytes\">{:#x} ", one.address);
    for (std::size_t from = 0, to = 0; from < one.drawing.size(); from = to) {
      for (to = from; to < one.drawing.size() && one.drawing[to] == one.drawing[from]; ++to) {
      }
      char letter = one.drawing[from];
      std::string_view colour = letter == '.'   ? "var(--plot)"
                                : letter == '*' ? std::string_view("#d9534f")
                                                : turn(node_of(letter));
      put("<span style=\"width:{}px;background:{}\" title=\"{}, {} bytes\"></span>",
          8 * (to - from), colour, who(letter), (to - from) * one.scale);
    }
    put(" {} byte{} of {}</p>\n", one.drawing.size() * one.scale,
        one.drawing.size() * one.scale == 1 ? "" : "s", nodes_in(one.drawing));
  }
  static std::uint64_t node_of(char letter) {
    return static_cast<std::uint64_t>(letter >= 'a' ? letter - 'a' + 10 : letter - '0');
  }
  static std::string who(char letter) {
    if (letter == '.') return "nobody";
    if (letter == '*') return "several nodes";
    return letter == '+' ? "another node" : fmt::format("node {}", node_of(letter));
  }
  static std::string nodes_in(std::string_view drawing) {
    std::string letters(drawing), text;
    std::ranges::sort(letters);
    auto [end, last] = std::ranges::unique(letters);
    letters.erase(end, last);
    for (char letter : letters) {
      if (letter == '.') continue;
      std::string_view colour = letter == '*' ? std::string_view("#d9534f") : turn(node_of(letter));
      text += fmt::format("<span class=\"box\" style=\"background:{}\"></span>{} ", colour,
                          who(letter));
    }
    return text;
  }

  void locks() {
    if (totals_.locks.empty()) return;
    begin_table("Locks", "locks",
                "<th>lock</th><th>taken</th><th>from another node</th><th>waited</th><th></th>"
                "<th>mean</th><th>longest</th>");
    std::uint64_t most = std::max<std::uint64_t>(1, totals_.locks.front().wait_ns);
    std::size_t shown = 0;
    for (const LockTotals& one : totals_.locks) {
      if (shown++ == kMostRows) break;
      put("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"t\"><span class=\"bar\" "
          "style=\"width:{:.2f}em\"></span></td><td>{}</td><td>{}</td></tr>\n",
          escaped(one.name), one.times, one.travels, time_text(one.wait_ns),
          6.0 * static_cast<double>(one.wait_ns) / static_cast<double>(most),
          time_text(one.wait_ns / std::max<std::uint64_t>(1, one.times)),
          one.longest_ns == 0 ? "" : time_text(one.longest_ns));
    }
    end_table(totals_.locks.size(), kMostRows, "locks");
  }

  void memory() {
    if (totals_.memory.empty()) return;
    begin_table("Memory", "memory",
                "<th>variable or allocation</th><th>faults</th><th>waited in faults</th><th></th>"
                "<th>pages fetched</th><th>refreshed at barriers</th><th>differences sent</th>");
    std::uint64_t most =
        std::max<std::uint64_t>(1, count_of(totals_.memory.front(), MemoryCount::kWaitedNs));
    std::size_t shown = 0;
    for (const MemoryTotals& one : totals_.memory) {
      if (shown++ == kMostRows) break;
      std::uint64_t waited_ns = count_of(one, MemoryCount::kWaitedNs);
      put("<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"t\"><span class=\"bar\" "
          "style=\"width:{:.2f}em\"></span></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          escaped(one.name), count_of(one, MemoryCount::kFaults), time_text(waited_ns),
          6.0 * static_cast<double>(waited_ns) / static_cast<double>(most),
          count_of(one, MemoryCount::kFetched), count_of(one, MemoryCount::kRefreshed),
          bytes_text(count_of(one, MemoryCount::kFlushedBytes)));
    }
    end_table(totals_.memory.size(), kMostRows, "of them");
    how_to_name(totals_.memory, [](const MemoryTotals& one) { return one.name; });
  }

  // ---- Homes

  // Parts of one name, one behind the other.
  void homes() {
    if (totals_.homes.empty()) return;
    std::map<std::string, std::vector<const HomesPart*>> by_name;
    for (const HomesPart& part : totals_.homes) {
      const std::string* name = totals_.find_name(part.address);
      by_name[name == nullptr ? "memory without a name" : *name].push_back(&part);
    }
    std::vector<std::pair<std::string, std::vector<const HomesPart*>>> bars(by_name.begin(),
                                                                            by_name.end());
    std::stable_sort(bars.begin(), bars.end(), [](const auto& a, const auto& b) {
      return pages_of(a.second) > pages_of(b.second);
    });
    text_ += "<h2>Where pages have their home</h2>\n<p class=\"key\">";
    for (std::uint32_t n = 0; n < std::min<std::uint32_t>(job_.nodes, kMostInMatrix); ++n)
      put("<span style=\"background:{}\"></span>node {}", turn(n), n);
    text_ += "</p>\n<div id=\"homes\">\n";
    for (std::size_t i = 0; i < std::min(bars.size(), kMostBars); ++i)
      bar(bars[i].first, bars[i].second);
    text_ += "</div>\n";
    if (bars.size() > kMostBars)
      put("<p>{} more allocations, which are smaller, are not shown.</p>\n",
          bars.size() - kMostBars);
  }

  static std::uint64_t pages_of(const std::vector<const HomesPart*>& parts) {
    std::uint64_t sum = 0;
    for (const HomesPart* part : parts)
      for (const auto& [node, pages] : part->pages) sum += pages;
    return sum;
  }

  // Each part has a column; its nodes divide the height.
  void bar(const std::string& name, const std::vector<const HomesPart*>& parts) {
    put("<div class=\"strip\"><span>{}</span><svg viewBox=\"0 0 {} {}\" "
        "preserveAspectRatio=\"none\">",
        escaped(name), parts.size(), kStripHeight);
    for (std::size_t from = 0, to = 0; from < parts.size(); from = to) {
      auto same = [&](std::size_t at) {
        return parts[at]->pages.size() == 1 && parts[from]->pages.size() == 1 &&
               parts[at]->pages.begin()->first == parts[from]->pages.begin()->first;
      };
      for (to = from + 1; to < parts.size() && same(to); ++to) {
      }
      column(*parts[from], from, to - from);
    }
    std::uint64_t pages = pages_of(parts);
    end_strip(fmt::format("{} page{}", pages, pages == 1 ? "" : "s"));
  }

  void column(const HomesPart& part, std::size_t x, std::size_t width) {
    std::uint64_t sum = 0, below = 0;
    for (const auto& [node, pages] : part.pages) sum += pages;
    for (const auto& [node, pages] : part.pages) {
      if (pages == 0) continue;
      auto scaled = [&](std::uint64_t count) {
        return static_cast<double>(count) * kStripHeight / static_cast<double>(sum);
      };
      put("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"><title>node {}: "
          "from {:#x}</title></rect>",
          x, scaled(below), width, scaled(pages), turn(node), node, part.address);
      below += pages;
    }
  }

  // ---- Bytes

  void matrix() {
    std::uint64_t most = 0;
    for (const auto& row : totals_.moved) most = std::max(most, *std::ranges::max_element(row));
    if (most == 0) return;
    std::size_t nodes = totals_.moved.size();
    std::string heads = "<th>from \\ to</th>";
    for (std::size_t to = 0; to < nodes; ++to) heads += fmt::format("<th>node {}</th>", to);
    begin_table(!totals_.has_pages ? "Bytes between PEs of different hosts"
                                   : "Bytes between nodes: pages, and differences of pages",
                "moved", heads);
    for (std::size_t from = 0; from < nodes; ++from) {
      put("<tr><td>node {}</td>", from);
      for (std::size_t to = 0; to < nodes; ++to) {
        std::uint64_t bytes = totals_.moved[from][to];
        put("<td style=\"background:rgba(224,138,30,{:.2f})\">{}</td>",
            0.5 * static_cast<double>(bytes) / static_cast<double>(most),
            bytes == 0 ? "" : bytes_text(bytes));
      }
      text_ += "</tr>\n";
    }
    end_table(job_.nodes, nodes, "nodes");
  }

  void waits() {
    if (totals_.waits.empty()) return;
    begin_table(
        "Longest waits", "waits",
        "<th>for</th><th class=\"t\">kind</th><th>node or PE</th><th>thread</th><th>waited</th>"
        "<th>until</th>");
    for (const Wait& one : totals_.waits)
      put("<tr><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"
          "\n",
          escaped(name_of_wait(totals_, job_.logs[one.log].is_shmem, one.record)),
          name_of_kind(job_.logs[one.log].is_shmem, one.record.kind), job_.logs[one.log].node,
          one.record.number, time_text(one.record.value), time_text(one.record.time_ns));
    end_table(totals_.waits.size(), totals_.waits.size(), "");
  }

  const JobLog& job_;
  const PageTotals& totals_;
  std::string text_;
};

}  // namespace

std::string page_section(const JobLog& job, const PageTotals& totals) {
  return Section(job, totals).write();
}

namespace {

// What took most of the threads' time beside computing.
std::string what_took_most(const PageTotals& totals) {
  constexpr double kLeastShare = 0.05;
  Strip::Kinds sums{};
  double lived_ns = 0;
  for (const Strip& strip : totals.strips) {
    if (!strip.is_program || strip.is_shmem) continue;
    lived_ns += strip.lived_ns;
    for (std::size_t kind = 0; kind < kTimeKinds; ++kind) sums[kind] += strip.all[kind];
  }
  auto most = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  if (sums[most] < kLeastShare * lived_ns) return "";
  return fmt::format("Of all that threads did beside computing, {} took most, {} of their time. ",
                     name_of_kind(false, most), share_text(sums[most], lived_ns));
}

std::string worst_page(const PageTotals& totals) {
  for (const SharedPages& one : totals.shared)
    if (one.matters)
      return fmt::format("A page came again {} times, by {}: {}. ", one.again,
                         kSharings[std::min<std::size_t>(one.kind, 2)], escaped(one.writers));
  return "";
}

}  // namespace

// Node 0 writes its sentences at the end, and finds nothing where threads wait for each other
// alone.
std::string slow_sentences(const JobLog& job, const PageTotals& totals) {
  std::string text = totals.has_shmem ? slow_calls(job, totals) : "";
  if (!totals.has_pages) return text;
  if (totals.slow.empty() && job.length_ns > 0)
    text += "The job did not end in order, so that node 0 named nothing. ";
  for (const std::string& one : totals.slow) {
    std::string sentence = escaped(one);
    if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
      sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
    text += sentence + ". ";
  }
  bool found = !totals.slow.empty() && !totals.slow.front().starts_with("nothing");
  if (found) return text;
  std::string more = what_took_most(totals) + worst_page(totals);
  return totals.slow.empty() || more.empty() ? text + more : more;
}

}  // namespace terrane::tools::report
