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
#include "runtime/chunks/hot_streams.h"
#include "runtime/chunks/members.h"
#include "runtime/chunks/readiness.h"
#include "runtime/chunks/topology.h"
#include "runtime/options.h"
#include "transport/transport.h"
#include "waiting/handler_thread.h"
#include "wire/chunk_frame.h"

namespace terrane::runtime::chunks {

using protocol::chunks::Mode;
using protocol::chunks::Wait;
namespace machine = protocol::chunks;

class EngineReports;

// The system's number of the calling thread; one system call for each thread.
inline int this_thread() {
  thread_local const int number = ::gettid();
  return number;
}

// Identifies an open scope. A node never uses a number twice.
using ScopeId = Id<struct ScopeTag, std::uint64_t>;

// Counts of what a node has sent and waited for; see terrane_chunk_counters.
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
  View view;  // at start
  std::uint64_t budget_bytes, home_bytes;
  bool shares = true;              // shares memory with the nodes of this host
  bool survives = false;           // the job goes on when a node dies
  bool clusters = true;            // a version crosses the link between two clusters once
  std::uint64_t patience_ms = 0;   // a wait of this length is reported, once; 0: never
  trace::EventLog* log = nullptr;  // nullptr: no events are recorded; outlives the engine
  std::uint32_t log_every = 1;     // see ChunkTrace
};

// Drives the protocol of chunks on real threads, memory and messages: performs the machine's
// effects under one mutex, and delivers messages. A waiting thread makes progress by polling. While
// no thread waits, the handler thread sleeps on the transport and serves the other nodes. Any
// thread may call.
class ChunkEngine final : private transport::Receiver {
 public:
  // The result of a call. `scope`: if the call opened one; then `data` is valid until it is closed.
  struct Answer {
    machine::Status status = machine::Status::kOk;
    ChunkId chunk = machine::kNoChunk;
    std::uint64_t version = 0, missed = 0;
    ScopeId scope;
    std::byte* data = nullptr;  // first byte of `range`
    machine::Range range;
    machine::Range changed;    // of take(): bytes that changed since the version taken before
    std::uint64_t opened = 0;  // when the scope opened, by platform::ticks()
    bool at_once = false;      // answered within the call's own step, without a wait
    machine::WorkVersion work = {};
  };
  struct Facts {
    std::string name;
    std::uint64_t bytes = 0;
    machine::Coherence coherence = machine::Coherence::kInvalidate;
    NodeId home;
  };
  // Called under the mutex when a version has come for which no thread waits.
  using Notice = std::function<void(ChunkId)>;

  ChunkEngine(const EngineConfig& config, BufferPool& pool, transport::Transport& transport,
              bootstrap::Bootstrap& bootstrap, Readiness& readiness, Members& members);
  ~ChunkEngine();

  Answer create(machine::Create event);  // sets event.waiter itself
  // Deadlines are times of platform::now_ns(), or machine::kNever.
  Answer find(std::string_view name, bool wait, std::uint64_t deadline_ns);
  // Opens a scope on the range. A writer's version differs from the one before only within the
  // range.
  Answer open(ChunkId chunk, Mode mode, machine::Range range, Wait wait, std::uint64_t deadline_ns);
  // reports: false if the caller reports a long wait itself.
  Answer take(ChunkId chunk, Wait wait, std::uint64_t deadline_ns, bool reports = true);
  // Returns when the home knows of the subscription.
  Answer subscribe(ChunkId chunk, machine::Range range, machine::Policy policy,
                   std::uint32_t window, Notice notice);
  void unsubscribe(ChunkId chunk);
  Answer hint(ChunkId chunk, machine::Coherence coherence, std::uint64_t deadline_ns);
  void drop(ChunkId chunk);
  // False: no such scope is open.
  bool close(ScopeId scope);

  Facts facts(ChunkId chunk) const;
  // nullptr: no events are recorded.
  ChunkTrace* trace() const { return trace_.get(); }
  // Sentences about waits.
  EngineReports& reports() const { return *reports_; }

  // Leaves the job. A client gives back what it has and leaves; a server waits until all live nodes
  // want to leave. Ends the handler thread. Returns how the node leaves, for the launcher.
  bootstrap::Departure leave();

 private:
  friend class WorkCalls;
  friend class WorkFacts;
  friend class EngineReports;

  // What a waiting thread waits for.
  enum class Wants : std::uint8_t {
    kAnswers,       // answers of other nodes, for a bounded time
    kCreation,      // the answer to its own creation of chunk `name`
    kName,          // the creation of chunk `name` by any node
    kPlace,         // a home for the chunk with `name`
    kScope,         // a scope of `chunk`
    kVersion,       // a version of `chunk`, to take it
    kCoherence,     // a change of the coherence of `chunk`
    kSubscription,  // that the home of `chunk` knows of a subscription
    kWorkRoom,      // room in the work stream `chunk`, to write
    kWorkVersion,   // a version of the work stream `chunk`, to take it
    kServers,       // servers that take over all that this node has
    kDeparture,     // that all nodes want to leave
  };
  // A thread that waits for an answer.
  struct Waiter {
    Wants wants = Wants::kAnswers;
    int thread = this_thread();  // the waiting one; another thread may deliver the answer
    bool reports = true;         // a long wait is reported
    std::string_view name;
    Mode mode = Mode::kRead;
    ChunkId chunk = machine::kNoChunk;
    machine::Range range;
    Answer answer;
    std::vector<std::string> words;  // sentences of other nodes
    std::vector<NodeId> in_barrier;  // nodes with threads that wait in the barrier
    std::uint32_t asked = 0;         // the question's number; missing: nodes that have not answered
    std::vector<NodeId> missing;
    std::string cause;  // a sentence that explains the wait completely
    bool works() const { return wants == Wants::kWorkRoom || wants == Wants::kWorkVersion; }
    bool opens() const { return wants == Wants::kScope || wants == Wants::kVersion || works(); }
    bool steps = false;       // its own thread performs the machine's step now
    std::uint64_t since = 0;  // when the wait began, in ticks; only with a trace
    std::uint64_t waited_ns = 0;
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
    bool noted;                             // the event log has its kScopeOpened
    const machine::ChunkCache::Copy* copy;  // valid for ever: a cache removes none
    bool works = false;                     // it is a version of a work stream
  };

  template <typename MakeEvent>
  Answer call(Waiter& waiter, std::uint64_t deadline_ns, MakeEvent make);
  void wait_for(Waiter& waiter, std::uint64_t deadline_ns);
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

  void poll_all();
  waiting::HandlerTurn turn();
  void look_after_deaths();
  void stop();
  void forget_memory();
  void take(const bootstrap::News& news);
  void start_listener();
  void hear_news();
  void welcome(const bootstrap::News& news);
  void answer_launcher();
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
  HotStreams streams_;
  const std::uint64_t started_ns_ = platform::now_ns();
  std::uint64_t answered_ns_ = 0;  // the launcher's question before; of the listener
  std::vector<bool> shares_;       // by node: memory is shared with it

  mutable std::mutex mutex_;  // of all members down to loss_
  mutable platform::TickScale scale_;
  std::unique_ptr<const protocol::Clusters> clusters_;  // nullptr: nothing is relayed
  machine::MesiChunk machine_;
  machine::Effects effects_;
  ChunkMemory memory_;
  machine::View view_;
  std::vector<std::byte> scratch_;
  BufferRef incoming_;  // has the data of the message that is being delivered
  std::vector<Waiter*> waiters_;
  std::vector<std::uint32_t> free_waiters_;
  std::unordered_map<std::uint64_t, Scope> scopes_;
  std::uint64_t last_scope_ = 0;
  std::unordered_map<std::uint64_t, Notice> notices_;
  std::vector<bool> leaves_, parted_;  // by node: it wants to leave; it has left or been lost
  std::vector<bool> dead_;             // by node: it died (else it left)
  bool asked_to_close_ = false;        // the launcher was asked to admit no more guests
  bool closed_ = false;                // it admits no more
  Waiter* leaving_ = nullptr;
  NodeId lost_;  // the first peer that was lost, when, and the error message
  std::uint64_t lost_at_ns_ = 0;
  std::string loss_;

  const std::unique_ptr<EngineReports> reports_;
  std::atomic<bool> leaving_in_order_{false};
  std::atomic<bool> stopping_{false};
  std::uint64_t swept_ns_ = 0;  // of the handler thread
  waiting::HandlerThread handler_;
  base::UniqueFd stop_;   // ends the listener's wait
  std::thread listener_;  // waits for the launcher's messages
};

// Makes one step of the machine for the calling thread, and waits for its answer.
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
    waiter.waited_ns = platform::now_ns() - from_ns;
    counters_.wait_ns.fetch_add(waiter.waited_ns, std::memory_order_relaxed);
  }
  std::lock_guard hold(mutex_);
  waiters_[number] = nullptr;
  free_waiters_.push_back(number);
  return waiter.answer;
}

}  // namespace terrane::runtime::chunks
