#pragma once

#include <variant>
#include <vector>

#include "protocol/hlrc/hlrc.h"
#include "protocol/push/news_tree.h"
#include "protocol/serve/served.h"
#include "sim/program.h"
#include "sim/schedule.h"

namespace terrane::sim {

// How far a step has come that is performed piece by piece.
struct Progress {
  std::uint32_t block = 0;         // of a fetched run
  std::uint32_t at = 0;            // next byte, or block of the range
  std::uint32_t part = 0;          // where within a word's load, store home, store twin
  std::uint64_t loaded = 0;        // the word as it was loaded
  std::uint64_t pending = 0;       // bytes of it that are not stored yet, a bit each
  std::uint32_t changed = 0;       // bytes stored
  bool begun = false;              // with a block of a grant
  bool posted = false;             // whether it was drawn when the home answers a kPostFetch ...
  bool at_once = false;            // ... and it does so at once
  bool own = false;                // the fetched blocks are the reader's from now on
  protocol::FetchAnswer answer{};  // what the home does for this block
};

// What a node's machine wants of a handler.
struct Chore {
  std::uint32_t node = 0;
  std::variant<protocol::Drop, protocol::Expire, protocol::Offer, protocol::ReleaseKept> what;
  std::vector<std::byte> ranges;  // of an Expire
};

// A thread of the program, or a handler that carries out a chore: one operation at a time on its
// strand.
struct Actor {
  enum class Wait : std::uint8_t { kNothing, kWord, kResume, kFlushed, kNews };
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
    flights = 0;
    passed = 0;
    late.clear();
    posted.clear();
    strand.result = 0;
  }

  ActorId id;
  std::uint32_t node = 0;
  Wait wait = Wait::kNothing;
  Doing doing = Doing::kProgram;
  bool resumed = false;  // the call's waiter was resumed, or the word's waiters woken
  Progress progress;
  std::uint32_t flights = 0;  // flush messages that have not been answered
  // Of what homes passed on, which may be answered before the answer that tells of it.
  int passed = 0;
  bool flushed() const { return flights == 0 && passed == 0; }
  std::vector<std::byte> flush;  // the one being made, or the bytes of the news
  protocol::NewsPart news;
  struct Posted {
    protocol::BlockRange blocks;
    NodeId node;
    bool answered;
    std::uint64_t result;
  };
  std::vector<Posted> posted;  // asked for, and not waited for yet
  struct Late {
    std::uint32_t to;
    std::vector<std::byte> message;
  };
  std::vector<Late> late;     // those that have not left yet
  std::uint32_t next = 0;     // the thread's place in its program
  std::uint32_t tries = 0;    // of a lock
  Chore chore;                // a handler's
  protocol::Recall recall{};  // a handler's
  bool waits = true;          // a handler that yields: for who holds the page
  protocol::Strand strand;
  std::variant<std::monostate, protocol::Task<bool>, protocol::Task<protocol::FaultResult>,
               protocol::Task<protocol::LockResult>, protocol::Task<std::uint64_t>,
               protocol::Task<protocol::Arrival>>
      operation;
};

}  // namespace terrane::sim
