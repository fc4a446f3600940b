#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/launch/watch/job_view.h"

namespace terrane::tools::top {

// What a node did between two views. Rates are per second; shares are of the time of its threads.
struct NodeRates {
  std::uint32_t node = 0;
  std::string host;
  bool answers = false;        // it told its counters in both views: else only what follows
  double processors = 0;       // that its process used
  std::uint64_t resident = 0;  // bytes

  std::uint64_t threads = 0;  // of the program, on shared pages
  double computing = 0, faults = 0, locks = 0, barriers = 0, protocol = 0;  // shares
  double handler = 0;  // share of the time of one thread, the handler's
  double page_faults = 0, fetched = 0, refreshed = 0, zeros = 0, flushed = 0, flushed_bytes = 0,
         evicted = 0, acquires = 0, sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
  std::uint64_t homes = 0, copies = 0, kept = 0;  // bytes
  std::uint64_t room = 0;                         // bytes
  bool has_limit = false;                         // room counts
  double chunk_sent_bytes = 0, chunk_received_bytes = 0;
};

// A page, lock or chunk, of all nodes together; nodes: those with a part in it, most of it first.
struct PageRates {
  std::uint64_t page = 0, address = 0;
  std::string name;
  double faults = 0, fetched = 0, refreshed = 0, flushed = 0, flushed_bytes = 0;
  double waited = 0;  // seconds of threads
  std::vector<std::uint32_t> nodes;
};
struct LockRates {
  std::uint64_t token = 0;
  std::string name;
  double acquires = 0, remote = 0, waited = 0;
  std::vector<std::uint32_t> nodes;
};
struct StreamRates {
  std::string name;
  double written = 0, written_bytes = 0, taken = 0;
  double wait = 0;  // seconds that a take waited, on average
  std::vector<std::uint32_t> nodes;
};

struct JobRates {
  std::string job, program, file;
  std::int32_t process = 0;
  double age = 0;  // seconds
  std::uint32_t places = 0;
  std::vector<NodeRates> nodes;
  std::vector<PageRates> pages;  // those that cost most first
  std::vector<LockRates> locks;
  std::vector<StreamRates> streams;  // the busiest first
};

JobRates rates_of(const JobView& before, const JobView& now);

}  // namespace terrane::tools::top
