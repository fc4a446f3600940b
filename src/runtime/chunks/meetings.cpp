#include "runtime/chunks/meetings.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "platform/wait.h"

namespace terrane::runtime::chunks {
namespace {

// Programs cannot name these: what they give has no such byte in front unless they mean harm.
constexpr std::string_view kLock = "\1lock ", kBarrier = "\1barrier ", kSignal = "\1signal ";
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

Outcome Meetings::lock(std::string_view name, std::int64_t timeout_ns, OpenScope& scope) {
  if (Outcome good = check_name(name); !good.ok()) return good;
  ChunkId chunk;
  bool existed = false;
  Outcome made = node_.create(fmt::format("{}{}", kLock, name), sizeof(std::uint64_t),
                              machine::Coherence::kInvalidate, chunk, existed);
  if (!made.ok()) return made;
  return node_.open(chunk, Mode::kReadWrite, ChunkNode::kAll, timeout_ns, scope);
}

// Subscribed from the first use on, so that a count that has been reached is seen.
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

Outcome Meetings::wait_for(Count& count, std::string_view what, std::uint64_t target,
                           std::uint64_t deadline_ns) {
  using Next = machine::MeetingCount::Next;
  std::unique_lock hold(count.mutex);
  bool forever = deadline_ns == machine::kNever;
  for (;;) {
    std::uint64_t now = platform::now_ns();
    bool late = now >= deadline_ns && count.known.seen() < target;
    if (late)
      return {Status::kTimedOut,
              fmt::format("{}: {} have come of {}", what, count.known.seen(), target)};
    Next next = count.known.next(target);
    if (next == Next::kDone) return {};
    if (next == Next::kWait) {
      auto time = std::chrono::nanoseconds(forever ? 1'000'000'000 : deadline_ns - now);
      count.changed.wait_for(hold, time);
      continue;
    }
    hold.unlock();
    OpenScope scope;
    auto left = forever ? kForever : static_cast<std::int64_t>(deadline_ns - now);
    Outcome taken = node_.take(count.chunk, left, scope);
    machine::MeetingWords words;
    if (taken.ok()) {
      std::memcpy(&words, scope.data, sizeof words);
      node_.release(scope.scope);
    }
    hold.lock();
    if (count.known.took(taken.ok() ? &words : nullptr)) count.changed.notify_all();
    if (!taken.ok() && taken.status != Status::kTimedOut) return taken;
  }
}

// Changes the words under a scope that writes; what `function` leaves is known here at once.
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
  Outcome outcome = change(kBarrier, name, known, [&](machine::MeetingWords& words) {
    arrival = machine::arrive(words, count);
    parties = words.parties;
  });
  if (!outcome.ok()) return outcome;
  if (!arrival.agrees)
    return {Status::kMismatch,
            fmt::format("barrier '{}' is one of {} threads, not of {}", name, parties, count)};
  return wait_for(*known, fmt::format("barrier '{}'", name), arrival.target, deadline_ns);
}

Outcome Meetings::signal(std::string_view name, std::uint64_t& now) {
  Count* known = nullptr;
  Note note(node_, trace::Event::kSignal, known);
  return change(kSignal, name, known, [&](machine::MeetingWords& words) {
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
  Outcome outcome = count_of(fmt::format("{}{}", kSignal, name), known);
  if (outcome.ok())
    outcome = wait_for(*known, fmt::format("signal '{}'", name), count, deadline_ns);
  if (!outcome.ok()) return outcome;
  std::lock_guard hold(known->mutex);
  now = known->known.seen();
  return {};
}

}  // namespace terrane::runtime::chunks
