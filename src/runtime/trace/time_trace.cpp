#include "runtime/trace/time_trace.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "platform/quiet_thread.h"
#include "platform/ticks.h"
#include "platform/wait.h"

namespace terrane::runtime::trace {

TimeTrace::TimeTrace(std::unique_ptr<EventLog> log, ForEach for_each)
    : log_(std::move(log)),
      for_each_(std::move(for_each)),
      begun_ns_(platform::now_ns()),
      waits_(kRoom) {
  taken_.reserve(kRoom);
  reader_ = platform::start_without_signals([this] { run(); });
}

TimeTrace::~TimeTrace() { stop(); }

void TimeTrace::stop() {
  {
    std::lock_guard hold(mutex_);
    stops_ = true;
  }
  stop_.notify_all();
  if (reader_.joinable()) reader_.join();
}

void TimeTrace::add(std::uint32_t strip, TimeKind kind, std::uint64_t object, std::uint64_t ns) {
  std::lock_guard hold(waits_mutex_);
  if (count_ == kRoom) {
    ++left_out_;
  } else {
    waits_[count_++] = {platform::ticks(), object, ns, kind, strip};
  }
}

std::uint64_t TimeTrace::scaled(std::uint64_t ns) const {
  return ns * std::max<std::uint64_t>(alive_, kStrips) / kStrips;
}

void TimeTrace::run() {
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

void TimeTrace::end_step(std::uint64_t step_ns) {
  record_waits();
  for_each_([&](const StripNow& now) { record(now, step_ns); });
}

void TimeTrace::record_waits() {
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

void TimeTrace::record(const StripNow& now, std::uint64_t step_ns) {
  if (now.number >= strips_.size()) strips_.resize(now.number + 1);
  Strip& strip = strips_[now.number];
  if (!now.is_alive && (!strip.is_named || now.ns == strip.ns)) return set_alive(now.number, false);
  if (!strip.is_named || now.role != strip.role) {
    std::string name = now.role != nullptr ? now.role : fmt::format("thread {}", now.number);
    log_->note_text(Event::kStrip, {.object = now.number, .kind = now.role == nullptr}, name);
    strip.role = now.role;
    strip.is_named = true;
  }
  set_alive(now.number, now.is_alive);
  for (std::size_t kind = 0; kind < now.ns.size(); ++kind) {
    std::uint64_t more = now.ns[kind] - std::exchange(strip.ns[kind], now.ns[kind]);
    if (more > 0)
      log_->note(Event::kTime, {.object = now.number,
                                .value = more,
                                .kind = static_cast<std::uint8_t>(kind),
                                .number = static_cast<std::uint32_t>(step_ns / 1000)});
  }
}

void TimeTrace::set_alive(std::uint32_t number, bool alive) {
  if (std::exchange(strips_[number].is_alive, alive) == alive) return;
  alive_ += alive ? 1 : ~std::size_t{0};
  log_->note(Event::kLives, {.object = number, .kind = alive});
}

}  // namespace terrane::runtime::trace
