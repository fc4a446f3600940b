#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "forecast/forecast.h"
#include "forecast/message.h"
#include "protocol/core/core.h"
#include "protocol/hlrc/hlrc.h"
#include "protocol/predict/make_predictor.h"
#include "protocol/serve/flushes.h"

namespace terrane::forecast {

// Pages that have memory on a node.
class Frames {
 public:
  void resize(std::uint64_t pages) { pages_.resize(pages); }
  // Gives the page zeroed memory, if it has none.
  Page& operator[](std::uint64_t page) {
    if (!pages_[page]) {
      pages_[page] = std::make_unique<Page>();
      ++count_;
    }
    return *pages_[page];
  }
  void erase(std::uint64_t page) {
    if (pages_[page]) --count_;
    pages_[page].reset();
  }
  std::uint64_t count() const { return count_; }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
  std::uint64_t count_ = 0;
};

// An entry of the application view: present; guarded: the next write is noticed.
struct View {
  bool present = false;
  bool guarded = false;
};

// A request that an actor has sent to another node, and the answer.
struct Exchange {
  NodeId from;
  protocol::BlockRange blocks;
  bool stages = false;  // fetched pages go to the staging buffer
  std::variant<std::monostate, protocol::FetchResult, protocol::Owner, protocol::AtomicAnswer>
      answer;  // monostate until it arrives
};

// What performs one operation at a time on its strand: a thread of the program, or what a node does
// beside them.
struct Actor {
  enum class Role : std::uint8_t {
    kThread,
    kReleaser,   // makes releases of tokens that leave
    kDropper,    // drops copies that expired
    kAllocator,  // asks for the program's regions, before its threads start
    kServer,     // runs an operation from start to end at one moment
  };
  enum class Wait : std::uint8_t { kNothing, kWord, kResume, kAnswer, kFlushed, kPush, kEvent };

  Actor(std::uint32_t of, std::uint32_t number, Role what)
      : node(of), id(number), role(what), strand(protocol::WaiterId{number}) {}
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;

  // Whether it looks for messages while it waits.
  bool polls() const {
    return wait != Wait::kNothing && wait != Wait::kWord && wait != Wait::kEvent;
  }
  bool is_busy() const { return operation.index() != 0; }
  bool is_done() const {
    return std::visit(
        [](const auto& task) {
          if constexpr (std::is_same_v<std::decay_t<decltype(task)>, std::monostate>) {
            return true;
          } else {
            return task.done();
          }
        },
        operation);
  }
  template <typename T>
  void start(protocol::Task<T>&& task) {
    auto& kept = operation.emplace<protocol::Task<T>>(std::move(task));
    strand.start(kept);
  }
  template <typename T>
  T value_of() const {
    return std::get<protocol::Task<T>>(operation).value();
  }

  const std::uint32_t node;
  const std::uint32_t id;  // its place among the node's actors
  const Role role;
  Wait wait = Wait::kNothing;
  bool resumed = false;          // the Call was answered, or the word's waiting actors were woken
  std::uint64_t value = 0;       // the answer to the Call
  std::uint32_t generation = 0;  // of its next event: earlier ones are void
  std::vector<Exchange> asked;   // requests whose results have not been used yet
  std::vector<std::byte> out;    // memory of SendBuffer
  std::vector<std::byte> reduced;
  protocol::FlushesUnderWay flushes;
  std::map<std::uint32_t, std::vector<std::byte>> posted;  // by home
  protocol::Strand strand;
  std::variant<std::monostate, protocol::Task<>, protocol::Task<bool>,
               protocol::Task<protocol::FaultResult>, protocol::Task<protocol::LockResult>,
               protocol::Task<std::uint64_t>, protocol::Task<protocol::Arrival>,
               protocol::Task<protocol::AtomicDone>>
      operation;
};

// A thread of the program, or one that arrives at barriers for a node without threads that do.
struct Thread : Actor {
  Thread(std::uint32_t of, std::uint32_t place, std::uint32_t number)
      : Actor(of, place, Role::kThread), number(number) {}

  static constexpr std::uint32_t kNone = ~0u;

  const std::uint32_t number;            // in the program; kNone: it is none of it
  std::optional<std::uint64_t> arrives;  // not a thread of the program: the barrier
  Op op;
  bool has_op = false;
  bool op_done = false;
  bool in_fault = false;  // the access is tried again afterwards
  bool started = false;
  bool ended = false;
  bool has_processor = false;
  bool computes = false;  // in a slice of its work, which others may interrupt
  bool prepares = false;  // makes the count of its rendezvous
  Ns began = 0;           // the op
  Ns wait_began = 0;
  Ns slice_began = 0;
  Ns work_left = 0;
  Times times;
};

// What a node's machine wants done by its releaser or dropper.
struct Chore {
  std::variant<protocol::ReleaseKept, protocol::Expire, protocol::Drop, protocol::Adopt> what;
  std::vector<std::byte> ranges;  // of an Expire
};

// A token that stays on a node although another node waits for it.
struct Turn {
  LockId lock;
  Ns since = 0;
};

// What a node, or all of them, did.
struct Tally {
  std::uint64_t messages = 0;  // sent
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t faults = 0;
  std::uint64_t fetched = 0;  // pages that came because they were asked for
  std::uint64_t pushed = 0;   // pages that came without
  Ns handler = 0;
};

// A node: its memory, its protocol, its threads and processors.
struct Node {
  Frames frames, twins;
  std::vector<View> views;
  std::vector<Page> staged;
  std::vector<std::uint32_t> words, owners;
  std::vector<std::uint64_t> wanted;
  std::unique_ptr<protocol::BlockSet::Word[]> sets[protocol::BlockMemory::kSets];
  std::unique_ptr<protocol::BlockEntry[]> entries;
  std::unique_ptr<bool[]> reached;
  std::uint32_t flushing = 0;
  std::uint32_t giving = 0;
  protocol::PushBox pushes;
  std::optional<protocol::Core> core;
  std::unique_ptr<protocol::BlockHistory[]> history;
  std::unique_ptr<protocol::Predictor> predictor;
  std::optional<protocol::Hlrc> hlrc;

  std::vector<std::unique_ptr<Actor>> actors;  // by id
  Actor* releaser = nullptr;
  Actor* dropper = nullptr;
  Actor* allocator = nullptr;
  std::uint32_t allocated = 0;  // regions
  std::deque<Chore> releases, drops;
  std::vector<Turn> turns;

  std::uint32_t threads = 0;  // of the program
  std::uint32_t ended = 0;
  std::vector<Thread*> waiting;       // for other nodes
  std::uint32_t sleeping = 0;         // threads that wait for an event of the program
  std::uint32_t free_processors = 0;  // and which threads want one:
  std::deque<Thread*> ready;

  Ns out_free = 0, in_free = 0, handler_free = 0;
  Tally tally;
  std::uint64_t most_pages = 0, most_twins = 0, most_held = 0;

  // A thread that waits for other nodes polls for so long, as in production where the node's
  // threads fit its processors, and where not (waiting::kAloneNs, kCrowdedNs); then it sleeps.
  static constexpr Ns kPollsNs = 5'000'000, kPollsCrowdedNs = 100'000;

  // Whether a thread polls now: a node that has nothing to do any more does.
  bool polls(Ns now, std::uint32_t processors) const {
    if (ended == threads) return true;
    Ns patience = threads <= processors ? kPollsNs : kPollsCrowdedNs;
    for (const Thread* thread : waiting)
      if (now - thread->wait_began <= patience) return true;
    return false;
  }
  // Whether a thread has time to look after the node's turns.
  bool has_time() const { return !waiting.empty() || ended + sleeping == threads; }
};

}  // namespace terrane::forecast
