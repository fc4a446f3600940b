#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/node_snapshot.h"
#include "platform/ticks.h"
#include "protocol/hlrc/hlrc.h"
#include "protocol/sc/pages.h"
#include "runtime/engine.h"
#include "runtime/page_space.h"
#include "runtime/program_names.h"
#include "runtime/statistics.h"
#include "runtime/thread_context.h"

namespace terrane::runtime {

// The locks that cost most of late, by their counters.
class HotLocks {
 public:
  // At most `most` locks, without names, those that cost most of late first. What was before counts
  // half as much after each call. One thread at a time.
  std::vector<bootstrap::LockSnapshot> hottest(const LockCounters& locks, std::size_t most);

 private:
  struct Seen {
    std::uint64_t heat = 0;
    bootstrap::LockCounts counts;
  };
  std::vector<Seen> seen_;  // by entry
};

// Answers the launcher's questions about a node of shared pages (`terrane top`). Until the first
// question it does nothing. From then on pages and locks are counted one by one, and a thread of
// its own makes the answers. Owns that thread and, where --stats does not have them already, the
// counters.
class Snapshots {
 public:
  // What it looks at; all outlives it.
  struct Sources {
    bootstrap::Bootstrap& job;
    ThreadRegistry& threads;
    PageSpace& space;
    Engine& engine;
    const protocol::Hlrc& hlrc;
    const protocol::sc::Pages& sc;
    SiteCounters* sites = nullptr;  // of --stats; and so locks
    LockCounters* locks = nullptr;
    std::function<void(LockCounters*)> count_locks;  // from now on, there
    std::uint64_t joined_ns = 0;
  };

  explicit Snapshots(Sources sources) : from_(std::move(sources)) {}
  Snapshots(const Snapshots&) = delete;
  ~Snapshots() { stop(); }

  // The launcher asks. By one thread at a time; returns at once.
  void asked();
  // Returns when the thread has ended.
  void stop();
  // How the program names its places. Any thread, at any time.
  void set_names(ProgramNames names);

 private:
  void run();
  void begin_counting();
  bootstrap::NodeSnapshot make();
  void add_threads(bootstrap::NodeSnapshot& to);
  void add_memory(bootstrap::NodeSnapshot& to);
  void add_pages(bootstrap::NodeSnapshot& to);
  void add_locks(bootstrap::NodeSnapshot& to);
  std::string name_of_page(const HotPages::Page& page);

  const Sources from_;
  std::unique_ptr<SiteCounters> own_sites_;
  std::unique_ptr<LockCounters> own_locks_;
  HotPages* pages_ = nullptr;
  const LockCounters* locks_ = nullptr;
  HotLocks hot_locks_;
  platform::TickScale scale_;
  std::mutex naming_;
  ProgramNames names_;                                              // under naming_
  std::map<std::uint64_t, std::string> known_pages_, known_locks_;  // their names; under naming_
  std::uint64_t before_ns_ = 0;  // when the latest snapshot was made
  std::uint64_t copies_ = 0, homes_ = 0, memory_due_ns_ = 0;
  std::atomic<std::uint32_t> questions_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace terrane::runtime
