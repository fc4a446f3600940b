#pragma once

#include <variant>
#include <vector>

#include "protocol/hlrc/hlrc.h"
#include "protocol/push/push_tree.h"
#include "protocol/serve/flushes.h"
#include "sim/clocks.h"
#include "sim/program.h"
#include "sim/schedule.h"

namespace terrane::sim {

// How far an actor has come within a step that is performed piece by piece.
struct Progress {
  std::uint32_t block = 0;    // of a fetched run
  std::uint32_t at = 0;       // next byte, or next block of the range
  std::uint32_t part = 0;     // part of the step, or of a word: load, store home, store twin
  std::uint64_t loaded = 0;   // the word as it was loaded
  std::uint64_t pending = 0;  // bytes of it that are not stored yet, a bit each
  std::uint32_t changed = 0;  // bytes stored so far
};

// Work that a node's machine (Core) wants done on its node. A handler, a dropper or a thread does
// it.
struct Chore {
  std::uint32_t node = 0;
  std::variant<protocol::Drop, protocol::Expire, protocol::Offer, protocol::Adopt,
               protocol::ReleaseKept, protocol::TurnExtended, protocol::Recall>
      what;
  std::vector<std::byte> ranges;  // of an Expire: its data
};

// A request that an actor has sent to another node, and the answer.
struct Exchange {
  NodeId from;
  protocol::BlockRange blocks;
  bool stages = false;  // fetched blocks go to the staging buffer
  std::variant<std::monostate, protocol::FetchResult, protocol::Owner, protocol::AtomicAnswer>
      answer;  // monostate until it arrives
};

// A thread of the program; a chore that a thread or a handler performs for its node's machine; or
// the server of a channel's messages at its end. Each performs one operation at a time, on its
// strand.
struct Actor {
  enum class Wait : std::uint8_t { kNothing, kWord, kResume, kFlushed, kPush, kAnswer };
  enum class Doing : std::uint8_t {
    kProgram,
    kFault,
    kEvictForMemory,
    kHostCall,
    kChore,
    kAtomic,
    kYield,
    kPromote
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
  // Restores the state after construction, whatever a failed history has left.
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
  bool resumed = false;     // the Call was answered, or the word's waiting actors were woken
  std::uint64_t value = 0;  // the answer to the Call
  Progress progress;
  protocol::FlushesUnderWay flushes;
  Clock fence_told{};              // what fences had told when this one began
  protocol::AtomicOp atomic;       // the program's atomic operation
  std::vector<std::byte> flush;    // the difference under construction
  std::vector<std::byte> out;      // memory of SendBuffer
  std::vector<std::byte> message;  // the message that this server serves
  std::vector<Exchange> asked;     // requests whose results have not been used yet
  struct Late {
    std::uint32_t to;
    std::vector<std::byte> message;
  };
  std::vector<Late> late;     // flush messages that have not been sent yet
  std::uint32_t next = 0;     // index of the next operation, or of a grant's next block
  std::uint32_t tries = 0;    // how often the thread has tried its lock
  Actor* above = nullptr;     // chore that the same thread performs in the middle of this operation
  Actor* below = nullptr;     // operation of the same thread that pauses until this chore ends
  bool ready_later = false;   // the actor can act when the chore above it ends
  bool is_dropping = false;   // it is a chore of the dropper thread
  Chore chore;                // what a chore does
  protocol::Recall recall{};  // what a yield (kYield) gives back
  bool waits = true;          // a yield waits for the thread that holds the page
  protocol::Strand strand;
  std::vector<std::byte> reduced;  // the result of the barrier's reduction
  std::variant<std::monostate, protocol::Task<bool>, protocol::Task<protocol::FaultResult>,
               protocol::Task<protocol::LockResult>, protocol::Task<std::uint64_t>,
               protocol::Task<protocol::Arrival>, protocol::Task<>,
               protocol::Task<protocol::AtomicDone>>
      operation;
};

}  // namespace terrane::sim
