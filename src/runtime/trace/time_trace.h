#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/trace/event_log.h"

namespace terrane::runtime::trace {

// Records in a node's event log what its threads do over time. A thread of its own reads the
// counters of all threads at the end of each step, so that the threads themselves record nothing
// but waits that are long. A step lasts 1/kSteps of the time so far, and a wait is long from
// 1/kWaits of the time so far on: the log of a job that runs e times as long has as many records
// more. So the log is bounded, and no time is left out of the sums.
class TimeTrace {
 public:
  static constexpr std::uint64_t kSteps = 1000, kLeastStepNs = 2'000'000;
  static constexpr std::uint64_t kWaits = 5000, kLeastWaitNs = 50'000;
  // With more strips than this, steps and waits are longer in the same proportion.
  static constexpr std::uint64_t kStrips = 16;

  // What a thread has done so far, in nanoseconds by TimeKind.
  struct StripNow {
    std::uint32_t number = 0;  // numbers begin at 0 and are used again
    bool is_alive = true;
    const char* role = nullptr;  // of a thread of Terrane
    std::array<std::uint64_t, kTimeKinds> ns{};
  };
  using Take = std::function<void(const StripNow&)>;
  // Passes every strip to `take`. Called by the thread that reads.
  using ForEach = std::function<void(const Take& take)>;

  // What `for_each` reads outlives this.
  TimeTrace(std::unique_ptr<EventLog> log, ForEach for_each);
  ~TimeTrace();
  TimeTrace(const TimeTrace&) = delete;

  // Whether a wait of so many nanoseconds has a record of its own now.
  bool is_long(std::uint64_t ns) const {
    return ns >= least_wait_ns_.load(std::memory_order_relaxed);
  }
  // The thread of that strip has waited so long, until now. object: as Event::kWait. Any thread,
  // also in the handler of a fault: takes no memory.
  void waited(std::uint32_t strip, TimeKind kind, std::uint64_t object, std::uint64_t ns) {
    if (is_long(ns)) add(strip, kind, object, ns);
  }
  // Ends the last step; no step comes after it.
  void stop();
  // The node has left the job in order: the log ends, and log() may not be called any more.
  void close() { log_.reset(); }
  EventLog& log() { return *log_; }

 private:
  static constexpr std::size_t kRoom = 8192;  // waits of one step

  struct Strip {
    const char* role = nullptr;
    bool is_named = false, is_alive = false;
    std::array<std::uint64_t, kTimeKinds> ns{};
  };
  struct Wait {
    std::uint64_t ticks = 0, object = 0, ns = 0;
    TimeKind kind{};
    std::uint32_t strip = 0;
  };

  void add(std::uint32_t strip, TimeKind kind, std::uint64_t object, std::uint64_t ns);
  void run();
  void end_step(std::uint64_t step_ns);
  void record_waits();
  void record(const StripNow& now, std::uint64_t step_ns);
  void set_alive(std::uint32_t number, bool alive);
  std::uint64_t scaled(std::uint64_t ns) const;

  std::unique_ptr<EventLog> log_;
  const ForEach for_each_;
  const std::uint64_t begun_ns_;
  std::atomic<std::uint64_t> least_wait_ns_{kLeastWaitNs};
  std::vector<Strip> strips_;  // by number; of the thread that reads
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

}  // namespace terrane::runtime::trace
