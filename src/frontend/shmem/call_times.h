#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/shmem/job_world.h"

// What calls cost over time, for --report: only where the job has one.
namespace terrane::frontend::shmem {

// What a call does while it lasts. Loads and stores to memory in reach are the program's own.
enum class CallKind : std::uint8_t {
  kTransfer,   // puts, gets and atomics with other hosts, and the wait for their end
  kWait,       // for a word of this PE, or for a lock
  kCollective  // of a team
};

// One call of the program: from here to the end of its scope. Calls that it makes itself are a part
// of it. `call` lives as long as the program. Costs one load where nothing is recorded.
class Timed {
 public:
  Timed(CallKind kind, const char* call) : is_on_(is_recording_.load(std::memory_order_acquire)) {
    if (is_on_) begin(kind, call);
  }
  ~Timed() {
    if (is_on_) end();
  }
  Timed(const Timed&) = delete;

  // Begins the event log of this PE, after it has joined the job. An error if there is to be a log
  // and it cannot be written; nothing where there is to be none.
  static base::Result<> begin_recording(runtime::shmem::JobWorld& world);
  // Writes what all calls have cost, and ends the log. No thread of the program is in a call.
  static void end_recording(runtime::shmem::JobWorld& world);
  // In a child of the PE.
  static void forget() { is_recording_.store(false, std::memory_order_relaxed); }

 private:
  static void begin(CallKind kind, const char* call);
  static void end();

  static inline std::atomic<bool> is_recording_{false};
  const bool is_on_;
};

}  // namespace terrane::frontend::shmem
