#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/thread_context.h"
#include "runtime/trace/event_log.h"

namespace terrane::runtime {

// What a parallel region has cost in all, for a report.
struct RegionTotals {
  std::uint32_t number = 0;
  std::string place;
  std::uint64_t ns = 0;
  std::array<std::uint64_t, trace::kRegionCounts> counts{};  // by trace::RegionCount
};

// Records in a node's event log what its threads do over time, where it has shared pages. A thread
// of its own reads the counters of all threads at the end of each step, so that the threads
// themselves record nothing but waits that are long. A step lasts 1/kSteps of the time so far, and
// a wait is long from 1/kWaits of the time so far on: the log of a job that runs e times as long
// has as many records more. So the log is bounded, and no time is left out of the sums.
class PageTrace {
 public:
  static constexpr std::uint64_t kSteps = 1000, kLeastStepNs = 2'000'000;
  static constexpr std::uint64_t kWaits = 5000, kLeastWaitNs = 50'000;
  // With more strips than this, steps and waits are longer in the same proportion.
  static constexpr std::uint64_t kStrips = 16;

  // The registry outlives this.
  PageTrace(std::unique_ptr<trace::EventLog> log, ThreadRegistry& threads);
  ~PageTrace();
  PageTrace(const PageTrace&) = delete;

  // The thread of that context has waited so long, until now. object: as trace::Event::kWait. Any
  // thread, also in the handler of a fault: takes no memory.
  void waited(const ThreadContext& context, trace::TimeKind kind, std::uint64_t object,
              std::uint64_t ns) {
    if (ns >= least_wait_ns_.load(std::memory_order_relaxed)) add(context, kind, object, ns);
  }
  // The calling thread was in that parallel region so long, until now.
  void was_in_region(std::uint32_t number, std::uint64_t ns);
  // Records what a region has cost. By a thread on its own stack.
  void record_region(const RegionTotals& totals);
  // Ends the last step; no step comes after it.
  void stop();
  // The node has left the job in order: the log ends, and log() may not be called any more.
  void close() { log_.reset(); }
  trace::EventLog& log() { return *log_; }

 private:
  static constexpr std::size_t kRoom = 8192;  // waits of one step

  struct Strip {
    const char* role = nullptr;
    bool is_named = false, is_alive = false;
    std::array<std::uint64_t, trace::kTimeKinds> ns{};
  };
  struct Wait {
    std::uint64_t ticks = 0, object = 0, ns = 0;
    trace::TimeKind kind{};
    std::uint32_t strip = 0;
  };

  void add(const ThreadContext& context, trace::TimeKind kind, std::uint64_t object,
           std::uint64_t ns);
  void run();
  void end_step(std::uint64_t step_ns);
  void record_waits();
  void record(const ThreadContext& context, std::uint64_t step_ns);
  void set_alive(std::uint32_t number, bool alive);
  std::uint64_t scaled(std::uint64_t ns) const;

  std::unique_ptr<trace::EventLog> log_;
  ThreadRegistry& threads_;
  const std::uint64_t begun_ns_;
  std::atomic<std::uint64_t> least_wait_ns_{kLeastWaitNs};
  std::vector<Strip> strips_;  // by the number of a context; of the thread that reads
  std::size_t alive_ = 0;
  std::mutex waits_mutex_;
  std::vector<Wait> waits_;  // has kRoom elements, of which count_ are used
  std::size_t count_ = 0;
  std::uint64_t left_out_ = 0;
  std::vector<Wait> taken_;  // of the thread that reads
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stops_ = false;
  std::thread reader_;
};

}  // namespace terrane::runtime
