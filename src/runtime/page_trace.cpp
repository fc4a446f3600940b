#include "runtime/page_trace.h"

#include <utility>

#include "runtime/program/own_stack.h"

namespace terrane::runtime {

using trace::Event;

namespace {

trace::TimeTrace::StripNow strip_of(const ThreadContext& context) {
  const Counters& counters = context.counters;
  return {.number = context.strand.waiter().value,
          .is_alive = context.since_ns.load(std::memory_order_relaxed) != 0,
          .role = context.role.load(std::memory_order_relaxed),
          .ns = {counters.fetch_ns.get(), counters.lock_ns.get(), counters.barrier_ns.get(),
                 counters.handler_ns.get(), counters.overhead_ns.get()}};
}

}  // namespace

PageTrace::PageTrace(std::unique_ptr<trace::EventLog> log, ThreadRegistry& threads)
    : threads_(threads), times_(std::move(log), [&threads](const trace::TimeTrace::Take& take) {
        threads.for_each([&](const ThreadContext& context) { take(strip_of(context)); });
      }) {}

void PageTrace::was_in_region(std::uint32_t number, std::uint64_t ns) {
  on_own_stack(
      [this, number, ns] { waited(threads_.current(), trace::TimeKind::kRegion, number, ns); });
}

void PageTrace::record_region(const RegionTotals& totals) {
  log().note_text(Event::kRegion, {.object = totals.number, .value = totals.ns}, totals.place);
  for (std::size_t kind = 0; kind < totals.counts.size(); ++kind)
    log().note(Event::kRegionCount, {.object = totals.number,
                                     .value = totals.counts[kind],
                                     .kind = static_cast<std::uint8_t>(kind)});
}

}  // namespace terrane::runtime
