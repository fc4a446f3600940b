#pragma once

#include <cstdint>
#include <vector>

#include "sim/actor.h"
#include "sim/program.h"

namespace terrane::sim {

class History;

// Performs the operations of a program's threads in a history, and checks their results. Owns which
// threads hold its locks and counts.
class Operations {
 public:
  explicit Operations(History& history) : history_(history) {}

  // A new history begins.
  void reset(const Program& program);
  // The next operation of a thread begins; one that has no more step ends.
  void begin(Actor& actor);
  void finish(Actor& actor);
  // The core has answered an allocation or a free.
  void finish_host_call(Actor& actor);
  // An atomic operation was performed; `before`: the word's old value.
  void check_atomic(Actor& actor, std::uint64_t before);
  const Op& of(const Actor& actor) const;

 private:
  static constexpr std::uint32_t kNobody = ~0u;
  struct Users {
    std::uint32_t readers = 0, writers = 0;
  };

  std::uint64_t nowhere();
  void begin_sync(Actor& actor, const Op& op);
  void begin_evict(Actor& actor, const Op& op);
  void begin_count(Actor& actor, const Op& op);
  void check_stands(const Op& op) const;
  void access(Actor& actor, const Op& op);
  [[noreturn]] void wrong_value(const Actor& actor, const Op& op, std::uint64_t found,
                                std::uint64_t expected) const;
  // flag_operations.cpp
  void begin_flag(Actor& actor, const Op& op);
  std::byte* flag_at(Actor& actor, const Op& op, protocol::Access wanted);
  bool yields(Actor& actor, const Op& op);
  void begin_fence(Actor& actor);
  void await_by_fences(Actor& actor, const Op& op);
  bool is_sequential(const Actor& actor, const Op& op) const;

  void begin_atomic(Actor& actor, const Op& op);
  void atomic_in_place(Actor& actor, const Op& op);
  void start_fault(Actor& actor, std::uint64_t block, protocol::Access wanted);
  void host_call(Actor& actor, const Op& op);
  void finish_fault(Actor& actor);
  void free_memory(Actor& actor);
  void finish_sync(Actor& actor, const Op& op);
  void check_reduced(const Actor& actor, const Op& op) const;
  void take_room(const Actor& actor, const Op& op);
  void take_lock(Actor& actor, std::uint32_t lock);
  void leave_lock(Actor& actor, std::uint32_t lock);

  History& history_;
  std::uint32_t holder_[kMaxLocks];
  std::vector<std::uint64_t> sums_;          // by phase: sum of the threads' values in its barrier
  Users users_[kMaxCounts];                  // by count: holders of a read-write lock
  std::uint32_t arrivals_[kMaxCounts] = {};  // by count: threads of the rendezvous
  bool ready_[kMaxCounts] = {};    // by count: the condition's predicate holds; under its lock
  std::uint32_t doomed_left_ = 0;  // stores to do before a region is freed
  std::uint32_t freer_ = kNobody;  // the thread that waits for them, and frees it
};

}  // namespace terrane::sim
