#pragma once

#include <memory>

#include "runtime/chunks/chunk_engine.h"
#include "runtime/chunks/settings.h"
#include "runtime/chunks/subscriptions.h"
#include "runtime/chunks/unplaced.h"
#include "runtime/outcome.h"

namespace terrane::runtime::chunks {

inline constexpr std::int64_t kForever = -1;  // a timeout without limit; 0: does not wait

const char* name_of(machine::Coherence coherence);

// An open scope: access to the chunk's bytes until the scope ends.
struct OpenScope {
  ChunkId chunk;
  ScopeId scope;
  std::byte* data = nullptr;  // first byte of `range`
  machine::Range range;
  std::uint64_t version = 0, missed = 0;
  machine::Range changed;  // of take(): bytes that changed since the version taken before
};

// One process's place in a job of chunks: everything between the C interface and the layers below.
// Owns all of them. Any thread may call any method at any time.
class ChunkNode {
 public:
  // A subscription's handler. It gets a read scope, which ends when it returns.
  using Handler = std::function<void(const OpenScope&)>;

  static base::Result<std::unique_ptr<ChunkNode>> join();
  ~ChunkNode();
  ChunkNode(const ChunkNode&) = delete;

  NodeId self() const { return bootstrap_->self(); }
  // The number of nodes when the job started.
  std::uint32_t nodes() const { return bootstrap_->started(); }

  // existed: the chunk was there already, with that size and coherence. home: a node, kHomeByName
  // or kHomeAtFirst.
  Outcome create(std::string_view name, std::uint64_t bytes, machine::Coherence coherence,
                 ChunkId& chunk, bool& existed, std::uint32_t home = machine::kHomeByName);
  Outcome find(std::string_view name, std::int64_t timeout_ns, ChunkId& chunk);
  // kAll: the whole chunk. If `range` is a part, kWrite writes all bytes of that part.
  static constexpr machine::Range kAll = {};
  Outcome open(ChunkId chunk, Mode mode, machine::Range range, std::int64_t timeout_ns,
               OpenScope& scope);
  Outcome release(ScopeId scope);
  // Publishes a version with these bytes of the caller: a write scope that ends at once.
  Outcome publish(ChunkId chunk, std::uint64_t offset, std::span<const std::byte> data,
                  std::int64_t timeout_ns);
  // window 0: computed from the bandwidth and the delay of the way from the chunk's home.
  Outcome subscribe(ChunkId chunk, machine::Range range, machine::Policy policy,
                    std::uint32_t window, Handler handler);
  Outcome unsubscribe(ChunkId chunk);
  // reports: false if the caller reports a long wait itself.
  Outcome take(ChunkId chunk, std::int64_t timeout_ns, OpenScope& scope, bool reports = true);
  // Changes the chunk's coherence; waits until its scopes allow that.
  Outcome hint(ChunkId chunk, machine::Coherence coherence, std::int64_t timeout_ns);
  Outcome descriptor(ChunkId chunk, int& fd);
  Outcome drop(ChunkId chunk);
  // nullptr: no events are recorded (TERRANE_REPORT).
  ChunkTrace* trace() const { return engine_->trace(); }
  // The length of a wait that is reported; 0: none is.
  std::uint64_t patience_ms() const { return settings_.patience_ms; }
  // An empty name in the result: there is no such chunk.
  ChunkEngine::Facts facts(ChunkId chunk) const;
  Outcome check_name(std::string_view name) const;
  // For work streams (WorkStreams), members and counters.
  ChunkEngine& engine() { return *engine_; }
  Readiness& readiness() { return readiness_; }
  Members& members() { return members_; }
  std::string_view host_name(NodeId node) const { return bootstrap_->host_name(node); }
  std::uint64_t budget_bytes() const { return settings_.budget_bytes; }
  // The largest possible number of nodes, with guests.
  std::uint32_t most_nodes() const { return bootstrap_->nodes(); }

  // Collective: waits for all live nodes, then leaves the job. No method may be called afterwards.
  Outcome leave();

 private:
  ChunkNode() = default;
  base::Result<> start();
  base::Result<> wire_up(const Options& options);
  base::Result<View> first_view(const Topology& topology);
  Outcome opened(const char* what, const ChunkEngine::Answer& answer, ChunkId chunk,
                 std::int64_t timeout_ns, OpenScope& scope);
  Outcome unknown(ChunkId chunk) const;
  std::string title(ChunkId chunk) const;
  Outcome check_home(std::string_view name, machine::Coherence coherence, std::uint32_t home) const;
  Outcome create(const machine::Create& event, ChunkId& chunk, bool& existed);
  // For a chunk that had no home when this node first asked for it. placed(): the number by which
  // all nodes know it, if this node knows that number. await_home(): waits until it has a home.
  // become_home(): this node becomes the home if there is none.
  ChunkId placed(ChunkId chunk) const;
  Outcome await_home(ChunkId& chunk, std::int64_t timeout_ns);
  Outcome become_home(ChunkId& chunk);
  Outcome ask_home(ChunkId& chunk, machine::Create::Unplaced how, std::uint64_t deadline_ns);
  Outcome check_range(ChunkId chunk, machine::Range range) const;
  std::uint32_t measured_window(const ChunkEngine::Facts& facts);
  std::uint64_t deadline(std::int64_t timeout_ns) const;

  // Each uses those above it; destroyed from the last to the first.
  Readiness readiness_;
  Members members_;
  std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
  Settings settings_;
  Unplaced unplaced_;
  std::unique_ptr<trace::EventLog> log_;
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<ChunkEngine> engine_;
  std::unique_ptr<Subscriptions> subscriptions_;
};

}  // namespace terrane::runtime::chunks
