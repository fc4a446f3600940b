#pragma once

#include <memory>
#include <span>
#include <vector>

#include "protocol/chunks/meeting.h"
#include "protocol/chunks/mesi_chunk.h"
#include "sim/chunks/chunk_checker.h"
#include "sim/chunks/chunk_program.h"
#include "sim/chunks/node_memory.h"
#include "sim/network.h"
#include "sim/schedule.h"
#include "sim/trace.h"
#include "sim/violation.h"

namespace terrane::sim {

struct ChunkOutcome {
  Violation violation;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t scopes = 0;
  std::uint64_t hash = 0xcbf29ce484222325u;

  bool failed() const { return violation.fault != Fault::kNone; }
};

// Runs a program on the nodes' machines, one step at a time, in an order drawn from a seed. Owns
// the machines, the memory of their chunks and the messages under way.
class ChunkHistory {
 public:
  // `careful`: checks the invariants after every step. `trace` may be nullptr.
  ChunkOutcome run(const ChunkProgram& program, std::uint64_t seed, bool careful, Trace* trace);

 private:
  static constexpr std::uint64_t kMaxSteps = 200'000;
  static constexpr std::uint32_t kLeaver = 1000;  // waiter of a node that leaves: plus its number
  static constexpr ActorId kFirstClock = kMaxChunkThreads;
  static constexpr ActorId kFirstNews = kFirstClock + kMaxChunkNodes;
  static constexpr ActorId kFirstChannel = 64;

  struct Node {
    std::unique_ptr<chunks::MesiChunk> machine;
    NodeMemory memory;
    std::uint64_t now_ns = 0;
    bool alive = true;
    // The node was declared dead, and continues until step `ends_at`. At first it only answers.
    // Once all others know of its death, its threads act, too.
    bool undead = false, acts = false;
    std::uint64_t ends_at = 0;
    std::size_t dead_in = 0;  // the number of views when it died
    bool leaves = false;      // its threads do nothing any more
    bool left = false;
    std::size_t views = 0;  // that were reported to it

    bool dead() const { return !alive && views > 0; }
  };
  struct Thread {
    std::uint32_t node = 0;
    std::uint32_t next = 0;                           // index of its next operation
    bool waits = false;                               // for the answer to that operation
    std::array<bool, kMaxChunks> open{};              // its scopes
    std::array<std::uint32_t, kMaxChunks> at{};       // the next word to write
    std::array<std::uint64_t, kMaxChunks> stamp{};    // that it writes
    std::array<std::uint64_t, kMaxChunks> version{};  // at which its scopes opened
    std::array<chunks::Place, kMaxChunks> place{};
    std::array<chunks::ChunkId, kMaxChunks> id;  // as reported to it
    std::array<chunks::Mode, kMaxChunks> mode{};
    std::array<bool, kMaxChunks> unplaced{};  // the chunk has no home yet, as reported to it
    std::array<bool, kMaxChunks> refused{};   // its home is not in the view, so its name decides
    std::array<bool, kMaxChunks> stale{};     // the scope is of a chunk that was lost meanwhile
    bool subscribed = false;
    std::uint64_t stamps = 0;
    std::uint64_t target = 0;  // count at which it leaves its barrier, as the protocol says
    std::uint64_t must = 0;    // ... and as it must be
  };

  // What the threads of a node share about a barrier or a signal.
  struct Meeting {
    enum State : std::uint8_t { kUnknown, kJoining, kJoined } state = kUnknown;
    chunks::MeetingCount known;
    std::vector<std::uint32_t> sleepers;
  };
  static constexpr std::uint32_t kNobody = ~0u;

  // chunk_history.cpp
  void begin(const ChunkProgram& program, std::uint64_t seed);
  void draw_mood();
  void loop();
  void deliver(std::uint32_t channel);
  void tick(std::uint32_t node);
  void check_across() const;
  void finish_check();
  void note(std::uint64_t what) { outcome_.hash = (outcome_.hash ^ what) * 0x100000001b3u; }

  // chunk_changes.cpp: nodes that die, join and leave; lost chunks
  void changes();
  void kill(std::uint32_t node);
  void forget(std::uint32_t node);
  void end(std::uint32_t node);
  void join(std::uint32_t node);
  bool may_leave(std::uint32_t node) const;
  void leave(std::uint32_t node);
  void left(std::uint32_t node);
  void publish_view();
  void tell(std::uint32_t node);
  void lost(std::uint32_t node, const chunks::Lost& lost);
  void check_told(std::uint32_t chunk) const;
  bool pushed_death(std::uint32_t chunk) const;
  void truncate_to_home(std::uint32_t chunk);

  // chunk_false_deaths.cpp: nodes that are declared dead and continue
  void declare_dead(const ChunkProgram::Change& death);
  void lead_undead(std::uint32_t node);
  bool all_know_of_deaths() const;
  bool may_act(std::uint32_t thread, const ChunkOp& op) const;
  void resume_undead(std::uint32_t thread, const chunks::Resume& resume);

  // chunk_host.cpp: what a node's runtime does for its machine
  void step(std::uint32_t node, const chunks::Event& event);
  void note_coherence(std::uint32_t node);
  void perform(std::uint32_t node, const chunks::Effects& effects);
  void put(std::uint32_t from, NodeId to, const std::vector<std::byte>& message);
  std::span<std::uint64_t> words(std::uint32_t node, chunks::ChunkId chunk, chunks::Place place) {
    return std::span(nodes_[node].memory.words(chunk, place))
        .first(program_->all[index_of(chunk)].words);
  }
  std::uint32_t index_of(chunks::ChunkId id);
  void holds_from_now_on(chunks::ChunkId id, std::uint32_t chunk);

  // chunk_program_ops.cpp: the operations of the program's threads
  void act(std::uint32_t thread);
  void start(std::uint32_t thread, const ChunkOp& op);
  void create(std::uint32_t thread, const ChunkOp& op);
  void work(std::uint32_t thread, const ChunkOp& op);
  void close(std::uint32_t thread, const ChunkOp& op);
  void close_take(std::uint32_t thread, std::uint32_t chunk);
  bool writers_done(std::uint32_t chunk) const;
  void resume(std::uint32_t node, const chunks::Resume& resume);
  bool allowed(const ChunkOp& op, chunks::Status status) const;
  bool learn_no_home(Thread& thread, const ChunkOp& op, const chunks::Resume& resume);
  bool may_be_written(const ChunkOp& op) const;
  const chunks::ChunkHome::Entry* at_home(std::uint32_t chunk) const;
  void took(std::uint32_t thread, const ChunkOp& op, const chunks::Resume& resume);
  void learn(std::uint32_t thread, const ChunkOp& op, const chunks::Resume& resume);

  // chunk_meetings.cpp
  void come(std::uint32_t thread, std::uint32_t chunk);
  void came(std::uint32_t thread, std::uint32_t chunk);
  void wake(std::uint32_t thread);
  void wake_sleepers(Meeting& meeting);
  void sleep(std::uint32_t thread, Meeting& meeting);
  void join_meeting(std::uint32_t thread, const ChunkOp& op);
  void meet(std::uint32_t thread, const ChunkOp& op);
  void met(std::uint32_t thread, const ChunkOp& op, const chunks::Resume& resume);
  void hush_others(std::uint32_t thread, const ChunkOp& op);
  void end_hush();

  const ChunkProgram* program_ = nullptr;
  base::Prng rng_{0};
  bool careful_ = false;
  Trace* trace_ = nullptr;
  ChunkOutcome outcome_;
  Schedule schedule_;
  Network network_;
  ChunkChecker checker_;
  std::unique_ptr<const protocol::Clusters> clusters_;  // null: one cluster
  std::vector<chunks::View> views_;                     // by epoch, from 1 on
  std::vector<Node> nodes_;
  std::vector<Thread> threads_;
  std::array<chunks::ChunkId, kMaxChunks> ids_;  // the last number of each chunk
  std::vector<std::pair<chunks::ChunkId, std::uint32_t>> numbers_;
  // Created again by a home that was declared dead. They are valid once a living node hears of
  // them.
  std::vector<chunks::ChunkId> unheard_;
  std::vector<chunks::ChunkId> gone_;   // whose loss was reported
  std::size_t deaths_ = 0, joins_ = 0;  // that have happened
  chunks::Effects effects_;
  std::vector<std::byte> message_;
  std::uint32_t running_ = 0;
  std::array<std::array<Meeting, kMaxChunks>, kMaxChunkNodes> meetings_;
  std::array<std::uint64_t, kMaxChunks> come_{};  // by chunk: arrivals at a barrier, or signals
  std::uint32_t hushed_ = kNobody;                // while this thread waits, no other thread acts
  std::vector<std::uint32_t> waiting_to_act_;     // other threads that could act
};

}  // namespace terrane::sim
