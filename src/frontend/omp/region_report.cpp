#include "frontend/omp/region_report.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "frontend/omp/job_team.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

// The last number is that of all regions that come when the others are taken.
constexpr std::uint32_t kMostRegions = 256;
constexpr std::size_t kMostPages = 8192, kPagesShown = 16, kNameBytes = 128;

enum Count : std::size_t {
  kBusy,
  kFaults,
  kFetched,
  kUnused,
  kFlushed,
  kFlushedBytes,
  kMessages,
  kTasks,
  kMovedTasks,
  kCounts
};

// What the threads of this node have done in each region; this library's data are private.
std::atomic<std::uint64_t> counts[kMostRegions][kCounts];

// What node 0 alone knows of a region.
struct MasterCounts {
  Function* function = nullptr;
  std::uint64_t calls = 0, ns = 0;
};
MasterCounts regions[kMostRegions];
std::uint32_t region_count = 0;
std::uint64_t forked_ns = 0;

// What one node hands on, in shared memory.
struct NodeCounts {
  std::uint64_t counts[kMostRegions][kCounts];
  std::uint64_t page_count;
  terrane_program_page pages[kMostPages];
};

struct Own {
  std::uint32_t number = kNoRegion;  // of the region that it was in last
  bool is_first = false;
  std::uint64_t begun_ns = 0;
  terrane_program_work begin, end;
};
thread_local Own own;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void add(std::uint32_t number, Count what, std::uint64_t amount) {
  if (amount != 0) counts[number][what].fetch_add(amount, std::memory_order_relaxed);
}

// In handlers of exit a thread may count anew.
void add_since(std::uint32_t number, Count what, std::uint64_t now, std::uint64_t before) {
  if (now > before) add(number, what, now - before);
}

// What a thread has sent since its part of a region began is the region's: also what it sends when
// it arrives at the join. What it has fetched since the part before is that of the region that the
// fork begins, whose threads will use it.
void end_sending(const terrane_program_work& now) {
  if (own.number == kNoRegion) return;
  add_since(own.number, kFlushed, now.flushed, own.begin.flushed);
  add_since(own.number, kFlushedBytes, now.flushed_bytes, own.begin.flushed_bytes);
  add_since(own.number, kMessages, now.messages, own.begin.messages);
  own.number = kNoRegion;
}

void gather_node(void* raw) {
  NodeCounts& to = static_cast<NodeCounts*>(raw)[terrane_program_node()];
  for (std::uint32_t r = 0; r < kMostRegions; ++r)
    for (std::size_t c = 0; c < kCounts; ++c) to.counts[r][c] = counts[r][c].load();
  to.page_count = terrane_program_pages_written(to.pages, kMostPages);
}

template <typename... Arguments>
void print(std::string& text, const char* format, Arguments... arguments) {
  char line[512];
  std::snprintf(line, sizeof line, format, arguments...);
  text += line;
}

std::string name_of(std::uint32_t number) {
  if (number == kMostRegions - 1) return "(others)";
  char name[kNameBytes];
  terrane_program_name_code(reinterpret_cast<const void*>(regions[number].function), name,
                            sizeof name);
  return name;
}

// The share of each node in the time that threads have computed, in percent: "52 48".
std::string shares(const NodeCounts* all, std::uint32_t nodes, std::uint32_t number) {
  std::uint64_t sum = 0;
  for (std::uint32_t n = 0; n < nodes; ++n) sum += all[n].counts[number][kBusy];
  std::string text;
  for (std::uint32_t n = 0; n < nodes && sum != 0; ++n)
    print(text, n == 0 ? "%.0f" : " %.0f",
          100.0 * static_cast<double>(all[n].counts[number][kBusy]) / static_cast<double>(sum));
  return text;
}

void add_regions(const NodeCounts* all, std::uint32_t nodes, const std::vector<std::string>& names,
                 std::string& text) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < kMostRegions; ++r)
    if (regions[r].calls != 0) order.push_back(r);
  std::stable_sort(order.begin(), order.end(),
                   [](std::uint32_t a, std::uint32_t b) { return regions[a].ns > regions[b].ns; });
  print(text, "  %-28s%9s%10s%9s%9s%9s%9s%12s%10s  %s\n", "region", "calls", "seconds", "faults",
        "fetched", "unused", "flushed", "flushed KiB", "messages", "share of nodes, %");
  for (std::uint32_t r : order) {
    std::uint64_t sum[kCounts] = {};
    for (std::uint32_t n = 0; n < nodes; ++n)
      for (std::size_t c = 0; c < kCounts; ++c) sum[c] += all[n].counts[r][c];
    print(text, "  %-28s%9llu%10.3f", names[r].c_str(),
          static_cast<unsigned long long>(regions[r].calls),
          static_cast<double>(regions[r].ns) * 1e-9);
    for (Count c : {kFaults, kFetched, kUnused, kFlushed})
      print(text, "%9llu", static_cast<unsigned long long>(sum[c]));
    print(text, "%12llu%10llu  %s\n", static_cast<unsigned long long>(sum[kFlushedBytes] >> 10),
          static_cast<unsigned long long>(sum[kMessages]), shares(all, nodes, r).c_str());
  }
}

// What the nodes have done of a region's tasks.
void add_tasks(const NodeCounts* all, std::uint32_t nodes, const std::vector<std::string>& names,
               std::string& text) {
  for (std::uint32_t r = 0; r < kMostRegions; ++r) {
    std::uint64_t tasks = 0, moved = 0;
    std::string by_node;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      std::uint64_t here = all[n].counts[r][kTasks];
      tasks += here;
      moved += all[n].counts[r][kMovedTasks];
      print(by_node, " %llu", static_cast<unsigned long long>(here));
    }
    if (tasks != 0)
      print(text, "  tasks of %s: run by nodes%s, moved between nodes %llu\n", names[r].c_str(),
            by_node.c_str(), static_cast<unsigned long long>(moved));
  }
}

// A page that several nodes have written in one region.
struct SharedPage {
  std::uint64_t block = 0, seen = 0, shared = 0, flushes = 0;  // phases
  std::string nodes;
};

std::vector<SharedPage> shared_pages(const NodeCounts* all, std::uint32_t nodes) {
  std::map<std::uint64_t, SharedPage> pages;
  for (std::uint32_t n = 0; n < nodes; ++n)
    for (std::size_t i = 0; i < all[n].page_count; ++i) {
      const terrane_program_page& one = all[n].pages[i];
      SharedPage& page = pages[one.block];
      page.block = one.block;
      page.shared |= page.seen & one.phases;
      page.seen |= one.phases;
      page.flushes += one.flushes;
      print(page.nodes, " %u", n);
    }
  std::vector<SharedPage> found;
  for (auto& [block, page] : pages)
    if (page.shared != 0) found.push_back(page);
  std::stable_sort(found.begin(), found.end(),
                   [](const SharedPage& a, const SharedPage& b) { return a.flushes > b.flushes; });
  return found;
}

void add_pages(const NodeCounts* all, std::uint32_t nodes, const std::vector<std::string>& names,
               std::string& text) {
  std::vector<SharedPage> pages = shared_pages(all, nodes);
  if (pages.empty()) return;
  print(text, "  pages that several nodes write in one region: %zu\n", pages.size());
  for (std::size_t i = 0; i < std::min(pages.size(), kPagesShown); ++i) {
    const SharedPage& page = pages[i];
    char name[kNameBytes];
    terrane_program_name_block(page.block, name, sizeof name);
    print(text, "  %-40s flushed %llu times, by nodes%s, in", name,
          static_cast<unsigned long long>(page.flushes), page.nodes.c_str());
    for (std::uint32_t r = 0; r < 64; ++r)
      if (page.shared >> r & 1) print(text, " %s", names[r].c_str());
    text += '\n';
  }
}

void log_regions(const NodeCounts* all, std::uint32_t nodes,
                 const std::vector<std::string>& names) {
  for (std::uint32_t r = 0; r < kMostRegions; ++r) {
    if (regions[r].calls == 0) continue;
    std::uint64_t sums[] = {regions[r].calls, 0, 0, 0, 0};
    constexpr Count kOf[] = {kCounts, kFaults, kFetched, kFlushedBytes, kMessages};
    for (std::size_t i = 1; i < std::size(kOf); ++i)
      for (std::uint32_t n = 0; n < nodes; ++n) sums[i] += all[n].counts[r][kOf[i]];
    terrane_program_log_region_counts(r, names[r].c_str(), regions[r].ns, sums);
  }
}

// A handler of exit, on node 0. In another thread than main's, or in a region, there is no team
// that could be asked.
void report() {
  std::uint32_t nodes = terrane_program_nodes();
  bool asks = terrane_program_is_main() && this_thread().region == nullptr;
  auto* all = static_cast<NodeCounts*>(terrane_program_memory(nodes * sizeof(NodeCounts)));
  if (asks) {
    run_on_each_node(gather_node, all);
  } else {
    gather_node(all);
  }
  std::vector<std::string> names(kMostRegions);
  for (std::uint32_t r = 0; r < kMostRegions; ++r)
    if (regions[r].calls != 0) names[r] = name_of(r);
  if ((reports() & kReportsLogged) != 0) log_regions(all, nodes, names);
  if ((reports() & kReportsPrinted) == 0) return;
  std::string text;
  print(text, "terrane: parallel regions of %u nodes%s\n", nodes,
        asks ? "" : "; counts of node 0 alone, since the program ended in a region");
  add_regions(all, nodes, names, text);
  add_tasks(all, nodes, names, text);
  add_pages(all, nodes, names, text);
  std::fputs(text.c_str(), stderr);
}

}  // namespace

unsigned reports() {
  static const unsigned wanted = terrane_program_reports();
  return wanted;
}

std::uint32_t region_number(Function* function) {
  if (region_count == 0) std::atexit(report);
  for (std::uint32_t r = 0; r < region_count; ++r)
    if (regions[r].function == function) return r;
  if (region_count == kMostRegions - 1) return region_count;
  regions[region_count].function = function;
  return region_count++;
}

void note_fork(std::uint32_t number) {
  if (!reports()) return;
  ++regions[number].calls;
  forked_ns = now_ns();
  terrane_program_work_done(true, &own.end);
}

void note_join(std::uint32_t number) {
  if (!reports()) return;
  std::uint64_t ns = now_ns() - forked_ns;
  regions[number].ns += ns;
  if ((reports() & kReportsLogged) != 0) terrane_program_log_region(number, ns);
}

void note_begin(std::uint32_t number, bool first) {
  if (!reports() || number == kNoRegion) return;
  terrane_program_work now;
  terrane_program_work_done(first, &now);
  end_sending(now);
  own.begin = now;
  own.number = number;
  own.is_first = first;
  own.begun_ns = now_ns();
  if (first) terrane_program_phase(number);
}

void note_end(std::uint32_t number) {
  if (!reports() || number == kNoRegion) return;
  terrane_program_work now;
  terrane_program_work_done(own.is_first, &now);
  std::uint64_t lasted = now_ns() - own.begun_ns;
  std::uint64_t waited = now.waited_ns - own.begin.waited_ns;
  add(number, kBusy, lasted - std::min(waited, lasted));
  add_since(number, kFaults, now.faults, own.end.faults);
  add_since(number, kFetched, now.fetched, own.end.fetched);
  add_since(number, kUnused, now.unused, own.end.unused);
  own.end = now;
}

void note_task() {
  if (reports() && own.number != kNoRegion) add(own.number, kTasks, 1);
}

void note_moved_task() {
  if (reports() && own.number != kNoRegion) add(own.number, kMovedTasks, 1);
}

void note_pause(bool first) {
  if (!reports()) return;
  terrane_program_work now;
  terrane_program_work_done(first, &now);
  end_sending(now);
}

}  // namespace terrane::frontend::omp
