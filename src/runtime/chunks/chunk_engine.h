#pragma once

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "bootstrap/bootstrap.h"
#include "platform/ticks.h"
#include "platform/wait.h"
#include "protocol/chunks/mesi_chunk.h"
#include "runtime/chunks/chunk_memory.h"
#include "runtime/chunks/chunk_trace.h"
#include "runtime/chunks/members.h"
#include "runtime/chunks/readiness.h"
#include "runtime/chunks/topology.h"
#include "runtime/options.h"
#include "runtime/waiting/handler_thread.h"
#include "transport/transport.h"
#include "wire/chunk_frame.h"

namespace terrane::runtime::chunks {

using protocol::chunks::Mode;
using protocol::chunks::Wait;
namespace machine = protocol::chunks;

// The calling thread, as the system numbers it, which it is asked once.
inline int this_thread() {
  thread_local const int number = ::gettid();
  return number;
}

// An open scope, as long as it is open; never given twice by a node.
using ScopeId = Id<struct ScopeTag, std::uint64_t>;

// What a node has sent and waited for; see terrane_chunk_counters.
struct EngineCounters {
  using Count = std::atomic<std::uint64_t>;
  Count messages_sent{0}, messages_received{0};
  Count data_bytes_sent{0}, data_bytes_received{0}, shared_bytes_sent{0};
  Count versions_written{0}, versions_taken{0}, versions_again{0};
  Count waits{0}, wait_ns{0};
};

struct EngineConfig {
  NodeId self;
  Topology topology;
  View view;  // the first
  std::uint64_t budget_bytes, home_bytes;
  bool shares = true;              // memory with the nodes of this host
  bool survives = false;           // the job goes on when a node dies
  bool clusters = true;            // versions cross the link between two of them once
  std::uint64_t patience_ms = 0;   // a wait that takes so long is reported, once; 0: never
  trace::EventLog* log = nullptr;  // where it notes what happens; outlives the engine
  std::uint32_t log_every = 1;     // see ChunkTrace
};

// Drives the protocol of chunks on real threads, memory and messages: carries out the machine's
// effects under one mutex, and delivers messages. A waiting thread makes progress by polling; while
// nobody waits, a handler thread sleeps on the transport and serves the other nodes. Any thread may
// call.
class ChunkEngine final : private transport::Receiver {
 public:
  // What a call came to. `scope` where it opened one; `data` belongs to the scope.
  struct Answer {
    machine::Status status = machine::Status::kOk;
    ChunkId chunk = machine::kNoChunk;
    std::uint64_t version = 0, missed = 0;
    ScopeId scope;
    std::byte* data = nullptr;  // of the range that is looked at
    machine::Range range;
    machine::Range changed;    // of a version that was taken: where, since the one taken before
    std::uint64_t opened = 0;  // when the scope did, by platform::ticks()
    bool at_once = false;      // within the call's own step
    machine::WorkVersion work = {};
  };
  struct Facts {
    std::string name;
    std::uint64_t bytes = 0;
    machine::Coherence coherence = machine::Coherence::kInvalidate;
    NodeId home;
  };
  // Called when a version came that nobody waited for, under the mutex: it hands it on.
  using Notice = std::function<void(ChunkId)>;

  ChunkEngine(const EngineConfig& config, BufferPool& pool, transport::Transport& transport,
              bootstrap::Bootstrap& bootstrap, Readiness& readiness, Members& members);
  ~ChunkEngine();

  Answer create(machine::Create event);  // of which it sets the waiter
  // Deadlines: by platform::now_ns(); machine::kNever.
  Answer find(std::string_view name, bool wait, std::uint64_t deadline_ns);
  // A view of the range; a writer makes a version that differs there alone.
  Answer open(ChunkId chunk, Mode mode, machine::Range range, Wait wait, std::uint64_t deadline_ns);
  // `reports`: false where the caller reports a long wait by itself.
  Answer take(ChunkId chunk, Wait wait, std::uint64_t deadline_ns, bool reports = true);
  Answer subscribe(ChunkId chunk, machine::Range range, machine::Policy policy,
                   std::uint32_t window, Notice notice);
  void unsubscribe(ChunkId chunk);
  Answer hint(ChunkId chunk, machine::Coherence coherence, std::uint64_t deadline_ns);
  void drop(ChunkId chunk);
  // False: no such scope is open.
  bool close(ScopeId scope);

  Facts facts(ChunkId chunk) const;
  // The nodes that have scopes of the chunk open, as a sentence; asks the other nodes, until
  // `deadline_ns` at most.
  std::string holders(ChunkId chunk, std::uint64_t deadline_ns = machine::kNever);
  // Why no version can come to this node: its scopes are open on all that its window has room for.
  // "" where one can.
  std::string why_no_version_fits(ChunkId chunk) const;
  // The number of this node's threads that wait in the barrier that the chunk is has changed.
  void waits_in_barrier(ChunkId chunk, int change);
  // Which nodes have no thread that waits in that barrier, by a sentence; asks the other nodes.
  std::string absent_from_barrier(ChunkId chunk);
  // Which servers do not answer, by a sentence; "" where all do.
  std::string silent_servers(std::uint64_t deadline_ns = machine::kNever);
  // nullptr where nothing is noted.
  ChunkTrace* trace() const { return trace_.get(); }
  // The scope that is open longest; "" if none is.
  std::string oldest_scope() const;

  // A client gives back what it has and goes; a server waits until all nodes that live want to
  // leave. Ends the handler thread. How the node is to be taken leave of.
  bootstrap::Departure leave();

 private:
  friend class WorkCalls;
  friend class WorkFacts;

  // What a thread waits for.
  enum class Wants : std::uint8_t {
    kAnswers,      // of other nodes, for a bounded time
    kCreation,     // of a chunk by `name`
    kName,         // to be created
    kPlace,        // a home for the chunk with `name`
    kScope,        // of `chunk`
    kVersion,      // of `chunk`, to take it
    kCoherence,    // of `chunk` to change
    kWorkRoom,     // in the work stream `chunk`, to write
    kWorkVersion,  // of it, to take
    kServers,      // to take back all that this node has
    kDeparture,    // of all nodes
  };
  // A thread that waits for an answer.
  struct Waiter {
    Wants wants = Wants::kAnswers;
    int thread = this_thread();  // another one may deliver its answer
    bool reports = true;         // where the wait takes long
    std::string_view name;
    Mode mode = Mode::kRead;
    ChunkId chunk = machine::kNoChunk;
    machine::Range range;
    Answer answer;
    std::vector<std::string> words;  // of other nodes
    std::vector<NodeId> in_barrier;  // that have threads which wait in it
    std::uint32_t asked = 0;  // the number of the question, and the nodes that have not answered
    std::vector<NodeId> missing;
    std::string cause;  // that explains the wait by itself
    bool works() const { return wants == Wants::kWorkRoom || wants == Wants::kWorkVersion; }
    bool opens() const { return wants == Wants::kScope || wants == Wants::kVersion || works(); }
    bool steps = false;       // its thread does, for its sake
    std::uint64_t since = 0;  // when its thread began to wait, in ticks; where that is noted
    std::atomic<std::uint32_t> done{0};
    std::atomic<std::uint32_t> sleeping{0};
  };
  struct Scope {
    ChunkId chunk;
    Mode mode;
    machine::Range range;
    Place place;
    BufferRef buffer;  // keeps the bytes
    int thread;
    std::uint64_t since;  // in ticks
    std::uint64_t version;
    bool noted;                             // in the event log, that it opened
    const machine::ChunkCache::Copy* copy;  // a cache forgets none
    bool works = false;                     // it is a version of a work stream
  };

  template <typename MakeEvent>
  Answer call(Waiter& waiter, std::uint64_t deadline_ns, MakeEvent make);
  void wait_for(Waiter& waiter, std::uint64_t deadline_ns);
  void report(const Waiter& waiter, std::uint64_t deadline_ns);
  std::string report_of(const Waiter& waiter, std::uint64_t deadline_ns);
  void finish(Waiter& waiter);
  template <typename MakeEvent>
  Answer call_for_scope(Waiter& waiter, ChunkId chunk, trace::ScopeOrigin origin,
                        std::uint64_t deadline_ns, MakeEvent make);

  void step(const machine::Event& event);
  class Performer;
  void send(NodeId to, const wire::ChunkFrame& frame, transport::Bytes body,
            transport::Bytes data = {});

  void received(NodeId from, transport::Bytes message) override;
  void lost(NodeId peer, std::string_view why) override;
  void handle_frame(NodeId from, const wire::ChunkFrame& frame, transport::Bytes body);
  void tell_holder(NodeId asker, const wire::ChunkFrame& frame);
  void take_holder(NodeId from, const wire::ChunkFrame& frame, transport::Bytes body);
  enum class Question : std::uint8_t { kHolders, kHoldersAndNewest };
  void inquire(Waiter& waiter, ChunkId chunk, Question question, std::uint64_t deadline_ns);
  std::string holders(ChunkId chunk, Question question, std::uint64_t deadline_ns);
  std::string who_created(const Waiter& waiter, std::uint64_t deadline_ns);
  std::string missing_departures() const;
  std::string describe(const Scope& scope) const;
  std::string describe(NodeId node) const;
  std::string describe(const std::vector<NodeId>& nodes) const;
  NodeId server_of(std::string_view name) const;
  std::string title(ChunkId chunk) const;
  std::string hold_up(ChunkId chunk) const;
  std::string newest(ChunkId chunk, bool& cause) const;
  const Scope* oldest(ChunkId chunk) const;

  void poll_all();
  waiting::HandlerTurn turn();
  void look_after_deaths();
  void stop();
  void forget_memory();
  void take(const bootstrap::News& news);
  void start_listener();
  void hear_news();
  void welcome(const bootstrap::News& news);
  bool serves(NodeId node) const;
  bool leave_alone();
  void leave_with_all();
  void look_who_leaves();
  [[noreturn]] void fail(std::string_view sentence);
  [[noreturn]] void fail_malformed(NodeId from);

  const EngineConfig config_;
  const std::unique_ptr<ChunkTrace> trace_;
  transport::Transport& transport_;
  bootstrap::Bootstrap& bootstrap_;
  BufferPool& pool_;
  Readiness& readiness_;
  Members& members_;
  EngineCounters counters_;
  std::vector<bool> shares_;  // memory with that node

  mutable std::mutex mutex_;  // of everything down to the handler
  mutable platform::TickScale scale_;
  std::unique_ptr<const protocol::Clusters> clusters_;  // nullptr: nothing is relayed
  machine::MesiChunk machine_;
  machine::Effects effects_;
  ChunkMemory memory_;
  machine::View view_;
  std::vector<std::byte> scratch_;
  BufferRef incoming_;  // in which the data of the message at hand lie
  std::vector<Waiter*> waiters_;
  std::vector<std::uint32_t> free_waiters_;
  std::unordered_map<std::uint64_t, Scope> scopes_;
  std::uint64_t last_scope_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> in_barrier_;  // threads here, by its chunk
  std::unordered_map<std::uint64_t, Notice> notices_;
  std::vector<bool> leaves_, parted_;  // by node
  std::vector<bool> dead_;             // ... that are in the view no more
  bool asked_to_close_ = false;        // nobody is to join any more
  bool closed_ = false;                // nobody will
  Waiter* leaving_ = nullptr;
  Waiter* asking_ = nullptr;  // the thread that asks for holders
  std::uint32_t questions_ = 0;
  NodeId lost_;  // the first peer that was lost, when, and the sentence
  std::uint64_t lost_at_ns_ = 0;
  std::string loss_;

  std::mutex inquiry_;  // one at a time
  std::atomic<bool> leaving_in_order_{false};
  std::atomic<bool> stopping_{false};
  std::uint64_t swept_ns_ = 0;  // the handler thread's
  waiting::HandlerThread handler_;
  base::UniqueFd stop_;   // ends the wait for news
  std::thread listener_;  // that waits for them
};

// One step for the sake of the calling thread, and the wait for its answer.
template <typename MakeEvent>
ChunkEngine::Answer ChunkEngine::call(Waiter& waiter, std::uint64_t deadline_ns, MakeEvent make) {
  std::uint32_t number = 0;
  {
    std::lock_guard hold(mutex_);
    if (free_waiters_.empty()) {
      free_waiters_.push_back(static_cast<std::uint32_t>(waiters_.size()));
      waiters_.push_back(nullptr);
    }
    number = free_waiters_.back();
    free_waiters_.pop_back();
    waiters_[number] = &waiter;
    waiter.steps = true;
    step(make(protocol::WaiterId{number}));
    waiter.steps = false;
  }
  if (waiter.done.load(std::memory_order_acquire) == 0) {
    if (trace_) waiter.since = platform::ticks();
    std::uint64_t from_ns = platform::now_ns();
    wait_for(waiter, deadline_ns);
    counters_.waits.fetch_add(1, std::memory_order_relaxed);
    counters_.wait_ns.fetch_add(platform::now_ns() - from_ns, std::memory_order_relaxed);
  }
  std::lock_guard hold(mutex_);
  waiters_[number] = nullptr;
  free_waiters_.push_back(number);
  return waiter.answer;
}

}  // namespace terrane::runtime::chunks
