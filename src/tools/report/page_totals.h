#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tools/report/job_log.h"

namespace terrane::tools::report {

inline constexpr std::size_t kMostInMatrix = 32;  // nodes

// What logs of shared pages say, counted. Times in nanoseconds.

// What a place of threads did, over time: ns of each kind in each of the job's equal steps.
struct Strip {
  std::size_t log = 0;  // in JobLog::logs
  std::uint64_t number = 0;
  std::string name;
  bool is_program = true;     // false: a thread of Terrane
  bool is_shmem = false;      // a PE's, whose kinds are calls of OpenSHMEM
  std::uint32_t threads = 1;  // that are added up here
  using Kinds = std::array<double, runtime::trace::kTimeKinds>;
  struct Step {
    Kinds ns{};
    double lived_ns = 0;
  };
  std::vector<Step> steps;
  Kinds all{};  // of all steps
  double lived_ns = 0;

  // Of the time for which it lived; the rest is waiting and Terrane's work.
  double computing() const;
};

struct LockTotals {
  std::string name;
  std::uint64_t wait_ns = 0, times = 0, travels = 0, longest_ns = 0;
};

struct MemoryTotals {
  std::string name;
  std::array<std::uint64_t, runtime::trace::kMemoryCounts> counts{};  // by MemoryCount
};

// A part of shared memory, and how many of its pages have their home at which node.
struct HomesPart {
  std::uint64_t address = 0, bytes = 0;
  std::map<std::uint32_t, std::uint64_t> pages;  // by node
};

struct RegionTotals {
  std::string place;
  std::uint64_t ns = 0;
  std::array<std::uint64_t, runtime::trace::kRegionCounts> counts{};  // by RegionCount
};

// Pages that came again and again.
struct SharedPages {
  std::uint64_t address = 0, wait_ns = 0;
  std::uint8_t kind = 0;  // a runtime::SharingKind
  bool matters = false;
  std::string writers, drawing, remedy;
  std::uint64_t again = 0, differences = 0, pages = 0, scale = 1;
};

struct Wait {
  std::size_t log = 0;
  Record record;
};

// All calls of one function of OpenSHMEM.
struct CallTotals {
  std::string name;
  std::uint8_t kind = 0;  // a TimeKind
  std::uint64_t calls = 0, ns = 0;
  std::uint64_t most_ns = 0;  // at the PE that was longest in it
  std::uint32_t most_pe = 0;
};

// Waits with a record at one place of a program with OpenSHMEM.
struct PlaceTotals {
  std::string name;
  std::uint64_t waits = 0, ns = 0, longest_ns = 0;
};

struct PageTotals {
  std::vector<Strip> strips;      // by node and number; those of the program first in each
  std::vector<LockTotals> locks;  // the longest wait of all first; the same of the following
  std::vector<MemoryTotals> memory;
  std::vector<RegionTotals> regions;
  std::vector<SharedPages> shared;
  std::vector<std::string> slow;                  // sentences
  std::vector<Wait> waits;                        // the longest ones, each alone
  std::vector<HomesPart> homes;                   // by address
  std::vector<std::vector<std::uint64_t>> moved;  // bytes, from a node to a node: of the first ones
  std::vector<std::uint64_t> region_at;           // by step: number + 1 of a region; empty: none
  std::map<std::uint64_t, std::string> region_names;
  bool has_pages = false, has_shmem = false;  // strips of them
  std::vector<CallTotals> calls;
  std::vector<PlaceTotals> places;
  std::uint64_t waits_without_record = 0;

  // The variable or allocation at an address, and the lock of a token; by its number where nobody
  // has named it.
  std::string name_of(std::uint64_t address) const;
  std::string name_of_lock(std::uint64_t token) const;
  const std::string* find_name(std::uint64_t object) const;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> names;  // by object; bytes of it
};

// `points`: steps of the job's time.
PageTotals count_pages(const JobLog& job, std::size_t points);
// One strip for each node's threads of the program.
std::vector<Strip> strips_of_nodes(const std::vector<Strip>& strips);
// "fault", "lock", ... by a runtime::trace::TimeKind, without kRegion; of OpenSHMEM "transfer", ...
std::string_view name_of_kind(bool is_shmem, std::size_t kind);
// What was waited for, by a record kWait.
std::string name_of_wait(const PageTotals& totals, bool is_shmem, const Record& record);

}  // namespace terrane::tools::report
