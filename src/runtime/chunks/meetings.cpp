#include "runtime/chunks/meetings.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "platform/wait.h"
#include "runtime/chunks/engine_reports.h"
#include "runtime/chunks/names.h"
#include "runtime/chunks/subscriptions.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kLookNs = 1'000'000'000;  // a bound on every sleep
constexpr std::size_t kMostName = machine::kMaxNameBytes - 16;

Outcome check_name(std::string_view name) {
  if (!name.empty() && name.size() <= kMostName) return {};
  return {Status::kInvalid, fmt::format("a name of {} bytes; 1 to {}", name.size(), kMostName)};
}

std::uint64_t deadline_of(std::int64_t timeout_ns) {
  if (timeout_ns < 0) return machine::kNever;
  return platform::now_ns() + static_cast<std::uint64_t>(timeout_ns);
}

}  // namespace

class Meetings::Note {
 public:
  Note(ChunkNode& node, trace::Event event, Count*& count)
      : trace_(node.trace()), event_(event), count_(count) {
    if (trace_ != nullptr) begin_ = platform::ticks();
  }
  ~Note() {
    if (trace_ != nullptr && count_ != nullptr) trace_->met(event_, count_->chunk, begin_, number);
  }
  Note(const Note&) = delete;

  std::uint64_t number = 0;

 private:
  ChunkTrace* trace_;
  trace::Event event_;
  Count*& count_;
  std::uint64_t begin_ = 0;
};

class Meetings::Arrived {
 public:
  Arrived(ChunkNode& node, ChunkId barrier) : node_(node), barrier_(barrier) {
    node_.engine().reports().waits_in_barrier(barrier_, 1);
  }
  ~Arrived() { node_.engine().reports().waits_in_barrier(barrier_, -1); }
  Arrived(const Arrived&) = delete;

 private:
  ChunkNode& node_;
  ChunkId barrier_;
};

Outcome Meetings::lock(std::string_view name, std::int64_t timeout_ns, OpenScope& scope) {
  if (Outcome good = check_name(name); !good.ok()) return good;
  ChunkId chunk;
  bool existed = false;
  Outcome made = node_.create(fmt::format("{}{}", kLockPrefix, name), sizeof(std::uint64_t),
                              machine::Coherence::kInvalidate, chunk, existed);
  if (!made.ok()) return made;
  return node_.open(chunk, Mode::kReadWrite, ChunkNode::kAll, timeout_ns, scope);
}

// Subscribes at the first use, so that a count that was reached before is seen.
Outcome Meetings::count_of(const std::string& name, Count*& count) {
  std::lock_guard hold(mutex_);
  std::unique_ptr<Count>& found = all_[name];
  if (!found) {
    auto fresh = std::make_unique<Count>();
    bool existed = false;
    Outcome made = node_.create(name, sizeof(machine::MeetingWords), machine::Coherence::kUpdate,
                                fresh->chunk, existed);
    if (made.ok())
      made = node_.subscribe(fresh->chunk, ChunkNode::kAll, machine::Policy::kLatest, 1, {});
    if (!made.ok()) {
      all_.erase(name);
      return made;
    }
    found = std::move(fresh);
  }
  count = found.get();
  return {};
}

void Meetings::learn(Count& count, std::uint64_t now) {
  std::lock_guard hold(count.mutex);
  if (count.known.learn(now)) count.changed.notify_all();
}

// Takes a version of the count, waiting at most until `until_ns`. False: the wait ends with
// `outcome`.
bool Meetings::take_count(Count& count, std::uint64_t until_ns, Outcome& outcome) {
  std::int64_t left = kForever;
  if (until_ns != machine::kNever) {
    std::uint64_t now = platform::now_ns();
    left = until_ns > now ? static_cast<std::int64_t>(until_ns - now) : 1;
  }
  OpenScope scope;
  outcome = node_.take(count.chunk, left, scope, false);
  machine::MeetingWords words;
  if (outcome.ok()) {
    std::memcpy(&words, scope.data, sizeof words);
    node_.release(scope.scope);
  }
  std::lock_guard hold(count.mutex);
  if (count.known.took(outcome.ok() ? &words : nullptr)) count.changed.notify_all();
  return outcome.ok() || outcome.status == Status::kTimedOut;
}

// If several threads of a node wait for the same count, the first one reports a long wait.
Outcome Meetings::wait_for(Count& count, const Goal& goal, std::uint64_t deadline_ns) {
  using Next = machine::MeetingCount::Next;
  std::uint64_t report_ns = machine::kNever;
  if (node_.patience_ms() != 0) report_ns = platform::now_ns() + node_.patience_ms() * 1'000'000;
  std::unique_lock hold(count.mutex);
  for (;;) {
    std::uint64_t now = platform::now_ns();
    std::uint64_t seen = count.known.seen();
    if (now >= deadline_ns && seen < goal.target)
      return {Status::kTimedOut, fmt::format("{}: {}", goal.title, progress(goal, seen))};
    if (now >= report_ns && seen < goal.target) {
      report_ns = machine::kNever;
      if (std::exchange(count.reported, goal.target) == goal.target) continue;
      hold.unlock();
      report(count, goal, seen);
      hold.lock();
      continue;
    }
    Next next = count.known.next(goal.target);
    if (next == Next::kDone) return {};
    std::uint64_t until = std::min(deadline_ns, report_ns);
    if (next == Next::kWait) {
      std::uint64_t left = std::min(until - now, kLookNs);
      Subscriptions::give_turn();
      count.changed.wait_for(hold, std::chrono::nanoseconds(left));
      continue;
    }
    hold.unlock();
    Outcome outcome;
    if (!take_count(count, until, outcome)) return outcome;
    hold.lock();
  }
}

std::string Meetings::progress(const Goal& goal, std::uint64_t seen) {
  if (goal.parties == 0) return fmt::format("{} of {} signals have come", seen, goal.target);
  std::uint64_t before = goal.target - goal.parties;
  return fmt::format("{} of {} threads have come", seen - std::min(seen, before), goal.parties);
}

void Meetings::report(const Count& count, const Goal& goal, std::uint64_t seen) {
  bool is_barrier = goal.parties != 0;
  std::string rest = is_barrier ? node_.engine().reports().absent_from_barrier(count.chunk)
                                : node_.engine().reports().silent_servers();
  base::log("{} has been waited {} {:g} s: {}{}{}", goal.title, is_barrier ? "in for" : "for",
            static_cast<double>(node_.patience_ms()) / 1000, progress(goal, seen),
            rest.empty() ? "" : "; ", rest);
}

// Changes the words of the count in a write scope. What `function` leaves in them is known here at
// once.
template <typename Function>
Outcome Meetings::change(std::string_view kind, std::string_view name, Count*& count,
                         Function function) {
  if (Outcome good = check_name(name); !good.ok()) return good;
  Outcome outcome = count_of(fmt::format("{}{}", kind, name), count);
  OpenScope scope;
  if (outcome.ok())
    outcome = node_.open(count->chunk, Mode::kReadWrite, ChunkNode::kAll, kForever, scope);
  if (!outcome.ok()) return outcome;
  machine::MeetingWords words;
  std::memcpy(&words, scope.data, sizeof words);
  function(words);
  std::memcpy(scope.data, &words, sizeof words);
  node_.release(scope.scope);
  learn(*count, words.count);
  return {};
}

Outcome Meetings::barrier(std::string_view name, std::uint32_t count, std::int64_t timeout_ns) {
  if (count == 0) return {Status::kInvalid, fmt::format("barrier '{}' of 0 threads", name)};
  std::uint64_t deadline_ns = deadline_of(timeout_ns);
  Count* known = nullptr;
  Note note(node_, trace::Event::kBarrier, known);
  note.number = count;
  std::uint64_t parties = 0;
  machine::Arrival arrival{};
  Outcome outcome = change(kBarrierPrefix, name, known, [&](machine::MeetingWords& words) {
    arrival = machine::arrive(words, count);
    parties = words.parties;
  });
  if (!outcome.ok()) return outcome;
  if (!arrival.agrees)
    return {Status::kMismatch,
            fmt::format("barrier '{}' is one of {} threads, not of {}", name, parties, count)};
  Arrived arrived(node_, known->chunk);
  return wait_for(*known, {fmt::format("barrier '{}'", name), arrival.target, count}, deadline_ns);
}

Outcome Meetings::signal(std::string_view name, std::uint64_t& now) {
  Count* known = nullptr;
  Note note(node_, trace::Event::kSignal, known);
  return change(kSignalPrefix, name, known, [&](machine::MeetingWords& words) {
    note.number = now = machine::give_signal(words);
  });
}

Outcome Meetings::await(std::string_view name, std::uint64_t count, std::int64_t timeout_ns,
                        std::uint64_t& now) {
  if (Outcome good = check_name(name); !good.ok()) return good;
  std::uint64_t deadline_ns = deadline_of(timeout_ns);
  Count* known = nullptr;
  Note note(node_, trace::Event::kAwaited, known);
  note.number = count;
  std::string chunk_name = fmt::format("{}{}", kSignalPrefix, name);
  Outcome outcome = count_of(chunk_name, known);
  if (outcome.ok()) outcome = wait_for(*known, {title_of(chunk_name), count}, deadline_ns);
  if (!outcome.ok()) return outcome;
  std::lock_guard hold(known->mutex);
  now = known->known.seen();
  return {};
}

}  // namespace terrane::runtime::chunks
