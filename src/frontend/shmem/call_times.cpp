#include "frontend/shmem/call_times.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/shmem/call_place.h"
#include "platform/wait.h"
#include "runtime/counters.h"
#include "runtime/trace/time_trace.h"

namespace terrane::frontend::shmem {
namespace {

using runtime::Counter;
using runtime::trace::Event;
using runtime::trace::TimeKind;
using runtime::trace::TimeTrace;

constexpr std::size_t kMostNames = 256;   // of calls that a thread makes
constexpr std::size_t kMostSpots = 1024;  // where it waited long
constexpr std::size_t kMostPlaces = 16;   // of those that get a name

TimeKind time_kind(CallKind kind) {
  constexpr TimeKind kKinds[] = {TimeKind::kFault, TimeKind::kLock, TimeKind::kBarrier};
  return kKinds[static_cast<std::size_t>(kind)];
}

// What the calls of one name have cost.
struct CallCount {
  std::atomic<const char*> name{nullptr};
  CallKind kind{};
  Counter calls, ns;
};

// One thread's calls. Written by it alone.
struct Caller {
  std::uint32_t number = 0;
  std::atomic<bool> is_alive{true};
  std::array<Counter, 3> ns;                  // by CallKind
  std::array<CallCount, kMostNames> by_name;  // by the address of the name, which may be there
                                              // several times
  std::uint32_t depth = 0;
  std::uint64_t since_ns = 0;
  CallKind kind{};
  const char* call = nullptr;

  CallCount& count(const char* name) {
    std::size_t at = reinterpret_cast<std::uintptr_t>(name) / 8 % (kMostNames - 1);
    for (std::size_t tries = 0; tries < kMostNames - 1; ++tries) {
      CallCount& one = by_name[at];
      const char* there = one.name.load(std::memory_order_relaxed);
      if (there == name) return one;
      if (there == nullptr) {
        one.kind = kind;
        one.name.store(name, std::memory_order_release);
        return one;
      }
      at = (at + 1) % (kMostNames - 1);
    }
    by_name.back().name.store("other calls", std::memory_order_release);
    return by_name.back();
  }
};

// A place of the program where a thread has waited long.
struct Waiting {
  Spot spot;
  const char* call = nullptr;
  std::uint64_t ns = 0;
};

// The same for the same call of the same program at every PE, and no address of anything.
std::uint64_t object_of(const Spot& spot, std::string_view call) {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto take = [&](std::string_view text) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  take(call);
  take(spot.file.substr(spot.file.rfind('/') + 1));
  for (std::uint64_t rest = spot.offset; rest != 0; rest >>= 8)
    hash = (hash ^ (rest & 0xff)) * 0x100000001b3;
  return hash | std::uint64_t{1} << 63;
}

// The record of this process. Never destroyed: threads may run on while the process exits.
class Record {
 public:
  explicit Record(std::unique_ptr<runtime::trace::EventLog> log)
      : times_(std::move(log), [this](const TimeTrace::Take& take) { strips(take); }) {}

  Caller& mine() {
    thread_local Leaving leaving;
    if (leaving.caller == nullptr) leaving.caller = enter();
    return *leaving.caller;
  }

  void ended(Caller& caller, std::uint64_t ns) {
    caller.ns[static_cast<std::size_t>(caller.kind)].add(ns);
    CallCount& count = caller.count(caller.call);
    count.calls.add(1);
    count.ns.add(ns);
    if (times_.is_long(ns)) waited_long(caller, ns);
  }

  void write(runtime::shmem::JobWorld& world) {
    times_.stop();
    write_calls();
    write_places();
    write_traffic(world);
    times_.close();
  }

 private:
  // Its thread ends: the next thread gets the record.
  struct Leaving {
    Caller* caller = nullptr;
    ~Leaving() {
      if (caller != nullptr) caller->is_alive.store(false, std::memory_order_release);
    }
  };

  Caller* enter() {
    std::lock_guard hold(mutex_);
    for (const auto& one : callers_) {
      bool is_free = false;
      if (one->is_alive.compare_exchange_strong(is_free, true)) return one.get();
    }
    callers_.push_back(std::make_unique<Caller>());
    callers_.back()->number = static_cast<std::uint32_t>(callers_.size() - 1);
    return callers_.back().get();
  }

  void strips(const TimeTrace::Take& take) {
    std::lock_guard hold(mutex_);
    for (const auto& one : callers_) {
      TimeTrace::StripNow now{.number = one->number, .is_alive = one->is_alive.load()};
      for (std::size_t kind = 0; kind < one->ns.size(); ++kind)
        now.ns[static_cast<std::size_t>(time_kind(static_cast<CallKind>(kind)))] =
            one->ns[kind].get();
      take(now);
    }
  }

  void waited_long(const Caller& caller, std::uint64_t ns) {
    Spot spot = spot_of_call();
    std::uint64_t object = object_of(spot, caller.call);
    times_.waited(caller.number, time_kind(caller.kind), object, ns);
    std::lock_guard hold(mutex_);
    if (waits_.size() == kMostSpots && waits_.count(object) == 0) return;
    Waiting& one = waits_[object];
    if (one.call == nullptr) one = {std::move(spot), caller.call, 0};
    one.ns += ns;
  }

  void write_calls() {
    struct Sum {
      CallKind kind{};
      std::uint64_t calls = 0, ns = 0;
    };
    std::map<std::string_view, Sum> sums;
    std::lock_guard hold(mutex_);
    for (const auto& caller : callers_)
      for (const CallCount& one : caller->by_name)
        if (const char* name = one.name.load(std::memory_order_acquire)) {
          Sum& sum = sums[name];
          sum.kind = one.kind;
          sum.calls += one.calls.get();
          sum.ns += one.ns.get();
        }
    std::uint64_t number = 0;
    for (const auto& [name, sum] : sums) {
      times_.log().note_text(Event::kCall,
                             {.object = number,
                              .value = sum.ns,
                              .kind = static_cast<std::uint8_t>(time_kind(sum.kind))},
                             name);
      times_.log().note(Event::kCalls, {.object = number++, .value = sum.calls});
    }
  }

  // Those where it waited longest; the others have the name of their call.
  void write_places() {
    std::lock_guard hold(mutex_);
    std::vector<std::pair<std::uint64_t, const Waiting*>> all;
    for (const auto& [object, one] : waits_) all.emplace_back(object, &one);
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second->ns > b.second->ns; });
    std::vector<Spot> spots;
    for (const auto& [object, one] : all)
      if (spots.size() < kMostPlaces) spots.push_back(one->spot);
    std::vector<std::string> lines = lines_of(spots);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& [object, one] = all[i];
      std::string place = i < lines.size() ? lines[i] : "";
      times_.log().note_text(Event::kNamed, {.object = object, .value = 1},
                             place.empty() ? one->call : fmt::format("{} at {}", one->call, place));
    }
  }

  void write_traffic(runtime::shmem::JobWorld& world) {
    using runtime::trace::Moved;
    const auto& with = world.traffic().with();
    for (std::uint32_t pe = 0; pe < with.size(); ++pe)
      for (auto [kind, bytes] : {std::pair{Moved::kSent, with[pe].sent.load()},
                                 std::pair{Moved::kCame, with[pe].came.load()}})
        if (bytes > 0)
          times_.log().note(
              Event::kMoved,
              {.value = bytes, .kind = static_cast<std::uint8_t>(kind), .number = pe});
  }

  std::mutex mutex_;  // of the members below
  std::vector<std::unique_ptr<Caller>> callers_;
  std::map<std::uint64_t, Waiting> waits_;
  TimeTrace times_;  // its thread reads the others
};

Record* record = nullptr;

}  // namespace

void Timed::begin(CallKind kind, const char* call) {
  Caller& mine = record->mine();
  if (mine.depth++ > 0) return;
  mine.kind = kind;
  mine.call = call;
  mine.since_ns = platform::now_ns();
}

void Timed::end() {
  Caller& mine = record->mine();
  if (--mine.depth == 0) record->ended(mine, platform::now_ns() - mine.since_ns);
}

base::Result<> Timed::begin_recording(runtime::shmem::JobWorld& world) {
  const char* folder = std::getenv("TERRANE_REPORT");
  if (folder == nullptr || *folder == '\0' || record != nullptr) return {};
  auto log = runtime::trace::EventLog::create({.folder = folder,
                                               .node = world.self(),
                                               .nodes = world.pes(),
                                               .host = world.host_name(),
                                               .front_end = ".shmem"});
  if (!log) return base::error("--report: {}", log.error().message);
  log.value()->note(Event::kShmem, {});
  world.traffic().begin(world.pes());
  record = new Record(std::move(log).value());
  record->mine();  // computes from now on
  spot_of_call();  // loads what it needs now, not in the first long wait
  is_recording_.store(true, std::memory_order_release);
  return {};
}

void Timed::end_recording(runtime::shmem::JobWorld& world) {
  if (is_recording_.exchange(false)) record->write(world);
}

}  // namespace terrane::frontend::shmem
