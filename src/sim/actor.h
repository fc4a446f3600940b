#pragma once

#include <variant>
#include <vector>

#include "protocol/hlrc/hlrc.h"
#include "protocol/push/push_tree.h"
#include "protocol/serve/flushes.h"
#include "sim/program.h"
#include "sim/schedule.h"

namespace terrane::sim {

// How far a step has come that is performed piece by piece.
struct Progress {
  std::uint32_t block = 0;    // of a fetched run
  std::uint32_t at = 0;       // next byte, or block of the range
  std::uint32_t part = 0;     // where within a word's load, store home, store twin
  std::uint64_t loaded = 0;   // the word as it was loaded
  std::uint64_t pending = 0;  // bytes of it that are not stored yet, a bit each
  std::uint32_t changed = 0;  // bytes stored
};

// What a node's machine wants of a handler.
struct Chore {
  std::uint32_t node = 0;
  std::variant<protocol::Drop, protocol::Expire, protocol::Offer, protocol::ReleaseKept,
               protocol::TurnExtended>
      what;
  std::vector<std::byte> ranges;  // of an Expire
};

// What an actor has asked another node for by a message, and the answer.
struct Exchange {
  NodeId from;
  protocol::BlockRange blocks;
  bool stages = false;  // fetched blocks go to the staging buffer
  std::variant<std::monostate, protocol::FetchResult, protocol::Owner, protocol::AtomicAnswer>
      answer;  // once it has come
};

// A thread of the program; what a thread or a handler does for its node's machine; or what serves
// the messages of a channel at its end: one operation at a time on its strand.
struct Actor {
  enum class Wait : std::uint8_t { kNothing, kWord, kResume, kFlushed, kPush, kAnswer };
  enum class Doing : std::uint8_t {
    kProgram,
    kFault,
    kEvictForMemory,
    kHostCall,
    kChore,
    kAtomic,
    kYield
  };

  explicit Actor(ActorId me) : id(me), strand(protocol::WaiterId{me}) {}

  bool busy() const { return operation.index() != 0; }
  bool done() const {
    switch (operation.index()) {
      case 1:
        return std::get<1>(operation).done();
      case 2:
        return std::get<2>(operation).done();
      case 3:
        return std::get<3>(operation).done();
      case 4:
        return std::get<4>(operation).done();
      case 5:
        return std::get<5>(operation).done();
      case 6:
        return std::get<6>(operation).done();
      case 7:
        return std::get<7>(operation).done();
      default:
        return true;
    }
  }
  template <typename T>
  void start(protocol::Task<T>&& task) {
    auto& kept = operation.emplace<protocol::Task<T>>(std::move(task));
    strand.start(kept);
  }
  void clear_operation() { operation.emplace<0>(); }
  // As it was made: what a history that failed has left is forgotten.
  void reset() {
    clear_operation();
    wait = Wait::kNothing;
    doing = Doing::kProgram;
    resumed = false;
    progress = {};
    next = 0;
    tries = 0;
    above = below = nullptr;
    is_dropping = false;
    flushes.clear();
    late.clear();
    asked.clear();
    value = 0;
  }

  ActorId id;
  std::uint32_t node = 0;
  Wait wait = Wait::kNothing;
  Doing doing = Doing::kProgram;
  bool resumed = false;     // the call's waiter was resumed, or the word's waiters woken
  std::uint64_t value = 0;  // with which it was resumed
  Progress progress;
  protocol::FlushesUnderWay flushes;
  protocol::AtomicOp atomic;       // of the program's operation
  std::vector<std::byte> flush;    // the difference that is being made
  std::vector<std::byte> out;      // SendBuffer
  std::vector<std::byte> message;  // that is being served
  std::vector<Exchange> asked;     // and not taken yet
  struct Late {
    std::uint32_t to;
    std::vector<std::byte> message;
  };
  std::vector<Late> late;     // those that have not left yet
  std::uint32_t next = 0;     // the thread's place in its program
  std::uint32_t tries = 0;    // of a lock
  Actor* above = nullptr;     // what the same thread does in the middle of this operation
  Actor* below = nullptr;     // the operation of that thread that pauses meanwhile
  bool ready_later = false;   // it can act when what is above it is over
  bool is_dropping = false;   // a chore of the dropper thread
  Chore chore;                // a handler's
  protocol::Recall recall{};  // a handler's
  bool waits = true;          // a handler that yields: for who holds the page
  protocol::Strand strand;
  std::vector<std::byte> reduced;  // by the barrier
  std::variant<std::monostate, protocol::Task<bool>, protocol::Task<protocol::FaultResult>,
               protocol::Task<protocol::LockResult>, protocol::Task<std::uint64_t>,
               protocol::Task<protocol::Arrival>, protocol::Task<>,
               protocol::Task<protocol::AtomicDone>>
      operation;
};

}  // namespace terrane::sim
