#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/thread_context.h"
#include "runtime/trace/time_trace.h"

namespace terrane::runtime {

// What a parallel region has cost in all, for a report.
struct RegionTotals {
  std::uint32_t number = 0;
  std::string place;
  std::uint64_t ns = 0;
  std::array<std::uint64_t, trace::kRegionCounts> counts{};  // by trace::RegionCount
};

// Records in a node's event log what its threads do over time, where it has shared pages: a strip
// is a context of the registry.
class PageTrace {
 public:
  // The registry outlives this.
  PageTrace(std::unique_ptr<trace::EventLog> log, ThreadRegistry& threads);

  // The thread of that context has waited so long, until now. object: as trace::Event::kWait. Any
  // thread, also in the handler of a fault: takes no memory.
  void waited(const ThreadContext& context, trace::TimeKind kind, std::uint64_t object,
              std::uint64_t ns) {
    times_.waited(context.strand.waiter().value, kind, object, ns);
  }
  // The calling thread was in that parallel region so long, until now.
  void was_in_region(std::uint32_t number, std::uint64_t ns);
  // Records what a region has cost. By a thread on its own stack.
  void record_region(const RegionTotals& totals);
  // As of TimeTrace.
  void stop() { times_.stop(); }
  void close() { times_.close(); }
  trace::EventLog& log() { return times_.log(); }

 private:
  ThreadRegistry& threads_;
  trace::TimeTrace times_;
};

}  // namespace terrane::runtime
