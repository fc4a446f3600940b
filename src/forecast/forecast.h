#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forecast/program.h"
#include "protocol/predict/heuristics.h"

namespace terrane::forecast {

// Where and how a program is played.
struct Setup {
  std::uint32_t nodes = 1;             // each on a host of its own
  std::vector<std::uint32_t> node_of;  // by thread; empty: in equal parts, in order
  // Of each node, for its threads; its handler has one more.
  std::uint32_t processors = 1;
  Costs costs{};
  protocol::Prediction prediction{};
};

// What a thread spent its time on, from its start to its end. A thread whose first op is a kAwait
// starts when that is done. Work includes the wait for a processor.
struct Times {
  Ns computing = 0;
  Ns faults = 0;    // kRead, kWrite
  Ns locks = 0;     // kLock, kTryLock, kUnlock
  Ns barriers = 0;  // kBarrier, kGather, kArrive
  Ns others = 0;
};

struct NodeForecast {
  std::uint64_t messages = 0;  // sent
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t faults = 0;
  std::uint64_t fetched = 0;  // pages that came, also those that were pushed
  Ns handler = 0;             // in which its handler was busy
  // Pages that it held at once, at most: homes and copies; twins; and both together.
  std::uint64_t most_pages = 0;
  std::uint64_t most_twins = 0;
  std::uint64_t most_held = 0;
};

struct PageForecast {
  std::uint64_t page = 0;
  std::uint64_t faults = 0;
  std::uint64_t came = 0;   // to any node; not with a fault alone: also with a lock or a barrier
  Ns waited = 0;            // by all threads, in faults and atomic operations
  std::uint32_t nodes = 0;  // on which there were such
};

// Of a lock, a count, a condition or a rendezvous.
struct LockForecast {
  std::uint64_t id = 0;
  std::uint64_t acquisitions = 0;  // of its token, by threads
  std::uint64_t remote = 0;        // for which it came from another node
  Ns waited = 0;                   // by all threads, in ops with this id
};

struct BarrierForecast {
  std::uint64_t id = 0;
  std::uint64_t arrivals = 0;
  Ns waited = 0;
};

struct Forecast {
  Ns total = 0;                     // until the last thread ended
  std::vector<Times> threads;       // by thread
  std::vector<NodeForecast> nodes;  // by node
  std::vector<PageForecast> pages;  // those that cost time, the dearest first, as the next two
  std::vector<LockForecast> locks;
  std::vector<BarrierForecast> barriers;
  // Waits for a condition that no signal ended, because it came earlier than when it was recorded:
  // each was ended when nothing else could happen.
  std::uint64_t lost_signals = 0;
  std::string stuck;  // not empty: threads wait for ever, and for what; the rest is until then
};

// Whether `id` is that of a mutex, a read-write lock or a lock of the program, and not of a count,
// a condition or a rendezvous.
bool is_lock(std::uint64_t id);

// Plays the program in virtual time with the protocol's own code, by the calling thread alone. The
// same arguments give the same answer. Values are not checked. It always ends: `stuck` says so
// where the program does not, also where `setup` or an op is wrong.
Forecast forecast(Program& program, const Setup& setup);

}  // namespace terrane::forecast
