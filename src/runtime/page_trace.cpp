#include "runtime/page_trace.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/quiet_thread.h"
#include "platform/ticks.h"
#include "platform/wait.h"
#include "runtime/program/own_stack.h"

namespace terrane::runtime {

using trace::Event;
using trace::TimeKind;

namespace {

std::array<std::uint64_t, trace::kTimeKinds> times_of(const Counters& counters) {
  return {counters.fetch_ns.get(), counters.lock_ns.get(), counters.barrier_ns.get(),
          counters.handler_ns.get(), counters.overhead_ns.get()};
}

}  // namespace

PageTrace::PageTrace(std::unique_ptr<trace::EventLog> log, ThreadRegistry& threads)
    : log_(std::move(log)), threads_(threads), begun_ns_(platform::now_ns()), waits_(kRoom) {
  taken_.reserve(kRoom);
  reader_ = platform::start_without_signals([this] { run(); });
}

PageTrace::~PageTrace() { stop(); }

void PageTrace::stop() {
  {
    std::lock_guard hold(mutex_);
    stops_ = true;
  }
  stop_.notify_all();
  if (reader_.joinable()) reader_.join();
}

void PageTrace::add(const ThreadContext& context, TimeKind kind, std::uint64_t object,
                    std::uint64_t ns) {
  std::lock_guard hold(waits_mutex_);
  if (count_ == kRoom) {
    ++left_out_;
  } else {
    waits_[count_++] = {platform::ticks(), object, ns, kind, context.strand.waiter().value};
  }
}

std::uint64_t PageTrace::scaled(std::uint64_t ns) const {
  return ns * std::max<std::uint64_t>(alive_, kStrips) / kStrips;
}

void PageTrace::was_in_region(std::uint32_t number, std::uint64_t ns) {
  on_own_stack(
      [this, number, ns] { waited(threads_.current(), trace::TimeKind::kRegion, number, ns); });
}

void PageTrace::record_region(const RegionTotals& totals) {
  log_->note_text(Event::kRegion, {.object = totals.number, .value = totals.ns}, totals.place);
  for (std::size_t kind = 0; kind < totals.counts.size(); ++kind)
    log_->note(Event::kRegionCount, {.object = totals.number,
                                     .value = totals.counts[kind],
                                     .kind = static_cast<std::uint8_t>(kind)});
}

void PageTrace::run() {
  pthread_setname_np(pthread_self(), "terrane-time");
  std::uint64_t last_ns = begun_ns_;
  bool stops = false;
  while (!stops) {
    std::uint64_t so_far_ns = last_ns - begun_ns_;
    std::uint64_t step_ns = scaled(std::max(kLeastStepNs, so_far_ns / kSteps));
    least_wait_ns_.store(scaled(std::max(kLeastWaitNs, so_far_ns / kWaits)),
                         std::memory_order_relaxed);
    {
      std::unique_lock hold(mutex_);
      stops = stop_.wait_for(hold, std::chrono::nanoseconds(step_ns), [this] { return stops_; });
    }
    std::uint64_t now_ns = platform::now_ns();
    end_step(now_ns - std::exchange(last_ns, now_ns));
  }
  for (std::uint32_t i = 0; i < strips_.size(); ++i) set_alive(i, false);
  if (left_out_ > 0)
    log_->note(Event::kWaitsLeftOut, {.number = static_cast<std::uint32_t>(left_out_)});
}

void PageTrace::end_step(std::uint64_t step_ns) {
  record_waits();
  threads_.for_each([&](const ThreadContext& context) { record(context, step_ns); });
}

void PageTrace::record_waits() {
  {
    std::lock_guard hold(waits_mutex_);
    taken_.assign(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ = 0;
  }
  for (const Wait& one : taken_)
    log_->note_at(one.ticks, Event::kWait,
                  {.object = one.object,
                   .value = one.ns,
                   .kind = static_cast<std::uint8_t>(one.kind),
                   .number = one.strip});
}

void PageTrace::record(const ThreadContext& context, std::uint64_t step_ns) {
  std::uint32_t number = context.strand.waiter().value;
  if (number >= strips_.size()) strips_.resize(number + 1);
  Strip& strip = strips_[number];
  bool alive = context.since_ns.load(std::memory_order_relaxed) != 0;
  const char* role = context.role.load(std::memory_order_relaxed);
  auto ns = times_of(context.counters);
  if (!alive && (!strip.is_named || ns == strip.ns)) return set_alive(number, false);
  if (!strip.is_named || role != strip.role) {
    std::string name = role != nullptr ? role : fmt::format("thread {}", number);
    log_->note_text(Event::kStrip, {.object = number, .kind = role == nullptr}, name);
    strip.role = role;
    strip.is_named = true;
  }
  set_alive(number, alive);
  for (std::size_t kind = 0; kind < ns.size(); ++kind) {
    std::uint64_t more = ns[kind] - std::exchange(strip.ns[kind], ns[kind]);
    if (more > 0)
      log_->note(Event::kTime, {.object = number,
                                .value = more,
                                .kind = static_cast<std::uint8_t>(kind),
                                .number = static_cast<std::uint32_t>(step_ns / 1000)});
  }
}

void PageTrace::set_alive(std::uint32_t number, bool alive) {
  if (std::exchange(strips_[number].is_alive, alive) == alive) return;
  alive_ += alive ? 1 : ~std::size_t{0};
  log_->note(Event::kLives, {.object = number, .kind = alive});
}

}  // namespace terrane::runtime
