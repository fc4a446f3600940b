#include <algorithm>

#include "sim/chunks/chunk_program.h"

namespace terrane::sim {
namespace {

// Writes one program; all of it comes from the random numbers.
class ChunkGenerator {
 public:
  ChunkGenerator(base::Prng& rng, ChunkProgram& out) : rng_(rng), out_(out) {}

  void run(std::uint32_t nodes) {
    out_.nodes = nodes ? nodes : 4 + rng_.below(3);
    out_.servers = 1 + rng_.below(std::min(3u, out_.nodes));
    out_.slots = out_.servers + rng_.below(3);
    draw_changes();
    draw_chunks();
    draw_threads();
    draw_meetings();
    workers_ = out_.threads();
    for (std::uint32_t t = 0; t < workers_; ++t) thread(t);
    subscribers();
    draw_leaves();
    draw_clusters(rng_);
    draw_homes();
  }

 private:
  void draw_changes() {
    out_.deaths.clear();
    out_.joins.clear();
    dying_ = rng_.chance(50);
    servers_die_ = dying_ && rng_.chance(60);
    for (std::uint32_t n = 1; dying_ && n < out_.nodes; ++n) {
      bool dies = rng_.chance(n < out_.servers ? 50 : 25) && (servers_die_ || n >= out_.servers);
      // Often soon after the death of another node, whose slots it may have taken over.
      bool follows = !out_.deaths.empty() && rng_.chance(40);
      std::uint32_t step = follows ? out_.deaths.back().step + rng_.below(60) : rng_.below(600);
      if (dies) out_.deaths.push_back({n, step});
      if (!dies && n >= out_.servers && rng_.chance(15)) out_.joins.push_back({n, rng_.below(400)});
    }
  }

  // Drawn from a copy of the generator, so that the rest of a seed's program stays the same.
  void draw_leaves() {
    out_.leaves.clear();
    base::Prng aside = rng_;
    draw_false_deaths(aside);
    if (!dying_ || aside.chance(50)) return;
    for (std::uint32_t n = out_.servers; n < out_.nodes; ++n) {
      bool dies = std::any_of(out_.deaths.begin(), out_.deaths.end(),
                              [n](const ChunkProgram::Change& death) { return death.node == n; });
      if (!dies && aside.chance(40)) out_.leaves.push_back({n, aside.below(600)});
    }
  }

  // Only if no node dies, joins or leaves. Also drawn from a copy.
  void draw_clusters(base::Prng aside) {
    out_.clusters.clear();
    if (dying_ || out_.nodes < 3 || aside.chance(50)) return;
    base::Prng apart = aside;
    apart.next();
    out_.relay_bytes = apart.chance(50) ? 1 << 20 : 8 * apart.below(3 * kMaxWords);
    std::uint32_t clusters = 2 + aside.below(4) / 3;
    for (std::uint32_t n = 0; n < out_.nodes; ++n) out_.clusters.push_back(aside.below(clusters));
    // Subscriptions begin and end, so that versions go through the relay and directly in turn.
    rng_ = aside;
    for (std::uint32_t t = workers_; t < out_.threads(); ++t) {
      std::vector<ChunkOp> before = out_.ops[t];
      ops_ = &out_.ops[t];
      ops_->resize(1);
      for (std::uint32_t more = rng_.below(4); more > 0; --more)
        subscription(before[0].chunk, true);
      ops_->insert(ops_->end(), before.begin() + 1, before.end());
    }
  }

  void draw_false_deaths(base::Prng aside) {
    for (ChunkProgram::Change& death : out_.deaths)
      if (aside.chance(30)) death.goes_on = 1 + aside.below(500);
  }

  bool changes(const std::vector<ChunkProgram::Change>& changes, std::uint32_t node) const {
    return std::any_of(changes.begin(), changes.end(),
                       [node](const ChunkProgram::Change& change) { return change.node == node; });
  }

  // Also drawn from a copy. A chunk gets its home at its first subscriber only if some subscriber
  // surely subscribes and stays.
  void draw_homes() {
    base::Prng aside = rng_;
    aside.next();
    if (aside.chance(30)) return;
    for (std::uint32_t c = 0; c < out_.all.size(); ++c) {
      if (aside.chance(50)) continue;
      std::uint32_t node = aside.below(out_.nodes);
      bool subscribed = false;
      for (std::uint32_t t = workers_; t < out_.threads(); ++t)
        subscribed |= out_.ops[t].front().chunk == c &&
                      !changes(out_.deaths, out_.thread_node[t]) &&
                      !changes(out_.leaves, out_.thread_node[t]);
      out_.all[c].home = subscribed && aside.chance(60) ? chunks::kHomeAtFirst : node;
    }
  }

  void draw_chunks() {
    out_.all.clear();
    meets_ = !dying_ && rng_.chance(30);
    std::uint32_t count = 1 + rng_.below(meets_ ? kMaxChunks - 2 : kMaxChunks);
    std::uint64_t bytes = 0;
    for (std::uint32_t c = 0; c < count; ++c) {
      std::uint32_t words = 1 + rng_.below(kMaxWords);
      auto coherence = static_cast<chunks::Coherence>(
          rng_.chance(servers_die_ ? 85 : 60) ? 0 : 1 + rng_.below(3));
      out_.all.push_back({"chunk " + std::to_string(c) + "/" + std::to_string(rng_.below(1000)),
                          words, coherence});
      out_.all.back().changes = rng_.chance(servers_die_ ? 8 : 20);
      bytes += 8 * words * (out_.all.back().pushed() ? 6 : 1);
    }
    // The budget is tight in half of the programs. Sometimes it is too small for the largest chunk.
    out_.budget_bytes = rng_.chance(50) ? bytes : 8 * (kMaxWords - rng_.below(2) + rng_.below(6));
  }

  void draw_threads() {
    out_.thread_node.clear();
    out_.ops.clear();
    base::Prng aside = rng_;
    crowd_ = !dying_ && out_.nodes <= 5 && aside.chance(20);
    if (crowd_) out_.all[0].coherence = chunks::Coherence::kUpdate;
    for (std::uint32_t n = 0; n < out_.nodes; ++n) {
      // A server may have no threads of its own.
      std::uint32_t threads = n < out_.servers && rng_.chance(40) ? 0 : 1 + rng_.below(2);
      if (crowd_ && threads > 0) threads += 2;
      if (n + 1 == out_.nodes) threads = std::max(threads, 1u);
      for (std::uint32_t t = 0; t < threads; ++t) out_.thread_node.push_back(n);
    }
    out_.ops.resize(out_.thread_node.size());
  }

  // A barrier of all threads or of every second one, and a signal. The threads use each some times,
  // all in the same order.
  void draw_meetings() {
    data_ = static_cast<std::uint32_t>(out_.all.size());
    phases_.clear();
    if (!meets_) return;
    every_ = 1 + rng_.below(2);
    std::uint32_t parties = (out_.threads() + every_ - 1) / every_;
    std::string number = std::to_string(rng_.below(1000));
    out_.all.push_back({"barrier/" + number, 1, chunks::Coherence::kUpdate, true, parties});
    out_.all.push_back({"signal/" + number, 1, chunks::Coherence::kUpdate, true});
    for (std::uint32_t p = 1 + rng_.below(5); p > 0; --p) phases_.push_back(rng_.chance(50));
    out_.budget_bytes = 1 << 20;
  }

  // A thread that arrives or gives a signal has no other scope open.
  void meeting(std::uint32_t t, std::uint32_t phase) {
    bool barrier = phases_[phase];
    if (barrier && t % every_ != 0) return;
    std::uint32_t chunk = barrier ? data_ : data_ + 1;
    ChunkOp op{.kind = ChunkOpKind::kOpen, .chunk = static_cast<std::uint8_t>(chunk)};
    op.mode = chunks::Mode::kReadWrite;
    ops_->push_back(op);
    op.kind = ChunkOpKind::kClose;
    ops_->push_back(op);
    op.kind = ChunkOpKind::kMeet;
    auto signals =
        static_cast<std::uint32_t>(std::count(phases_.begin(), phases_.begin() + phase + 1, false));
    if (!barrier) op.count = 1 + rng_.below(signals * workers_);
    if (barrier || rng_.chance(80)) ops_->push_back(op);
  }

  // Every thread learns of all chunks. Each chunk is created by at least one thread.
  void thread(std::uint32_t t) {
    ops_ = &out_.ops[t];
    ops_->clear();
    auto count = static_cast<std::uint32_t>(out_.all.size());
    for (std::uint32_t c = 0; c < count; ++c) {
      bool creates = dying_ || c % out_.threads() == t || rng_.chance(25);
      push(creates ? ChunkOpKind::kCreate : ChunkOpKind::kFind, c);
    }
    if (!dying_ && rng_.chance(10)) push(ChunkOpKind::kCreateOther, rng_.below(count));
    if (rng_.chance(10))
      ops_->push_back({.kind = ChunkOpKind::kFindNothing, .patience = rng_.below(2) * 5});
    for (std::uint32_t c = data_; c < count; ++c) push(ChunkOpKind::kJoinMeeting, c);
    std::uint32_t actions = 4 + rng_.below(8);
    auto phases = static_cast<std::uint32_t>(phases_.size());
    std::uint32_t phase = 0;
    for (std::uint32_t a = 0; a < actions; ++a) {
      for (; phase < phases && phase * actions <= a * phases; ++phase) meeting(t, phase);
      if (rng_.chance(12)) push(ChunkOpKind::kDrop, rng_.below(data_));
      scope(crowd_ && rng_.chance(60) ? 0 : rng_.below(data_), data_);
      if (rng_.chance(20)) hint(rng_.below(data_));
    }
    for (; phase < phases; ++phase) meeting(t, phase);
    for (std::uint32_t c = 0; c < data_; ++c) read(c);
  }

  void hint(std::uint32_t chunk) {
    if (!out_.all[chunk].changes) return;
    push(ChunkOpKind::kHint, chunk);
    ops_->back().coherence = static_cast<chunks::Coherence>(rng_.below(4));
    if (rng_.chance(15)) ops_->back().patience = 1 + rng_.below(30);
  }

  // Threads that only subscribe, so that a writer that waits for them waits for no open scope.
  void subscribers() {
    for (std::uint32_t c = 0; c < out_.all.size(); ++c)
      for (std::uint32_t n = 0; out_.all[c].pushed() && !out_.all[c].meeting && n < out_.nodes; ++n)
        if (out_.threads() < kMaxChunkThreads && rng_.chance(40)) subscriber(c, n);
  }

  void subscriber(std::uint32_t chunk, std::uint32_t node) {
    out_.thread_node.push_back(node);
    ops_ = &out_.ops.emplace_back();
    push(dying_ ? ChunkOpKind::kCreate : ChunkOpKind::kFind, chunk);
    if (rng_.chance(20)) subscription(chunk, true);
    subscription(chunk, false);
  }

  void subscription(std::uint32_t chunk, bool ends) {
    ChunkOp op{.kind = ChunkOpKind::kSubscribe, .chunk = static_cast<std::uint8_t>(chunk)};
    op.policy = static_cast<chunks::Policy>(rng_.below(3));
    op.window = op.policy == chunks::Policy::kLatest ? 1 : 1 + rng_.below(4);
    if (rng_.chance(40)) op.range = part(chunk);
    ops_->push_back(op);
    for (std::uint32_t takes = rng_.below(5); takes > 0; --takes) {
      op.kind = ChunkOpKind::kTake;
      op.wait = rng_.chance(30) ? chunks::Wait::kTry : chunks::Wait::kBlock;
      op.patience = 1 + rng_.below(30);
      ops_->push_back(op);
      if (rng_.chance(50)) push(ChunkOpKind::kWork, chunk);
      push(ChunkOpKind::kEndTake, chunk);
    }
    push(ends ? ChunkOpKind::kUnsubscribe : ChunkOpKind::kTakeAll, chunk);
  }

  // Scopes within scopes are in the order of the chunks' numbers, so threads never wait in a
  // circle. The writer of a pushed chunk may have to wait for its subscribers, and has no other
  // scope open meanwhile.
  void scope(std::uint32_t chunk, std::uint32_t count, bool inner = false) {
    ChunkOp op{.kind = ChunkOpKind::kOpen, .chunk = static_cast<std::uint8_t>(chunk)};
    bool pushed = out_.all[chunk].pushed();
    op.mode = static_cast<chunks::Mode>(pushed && inner ? 0 : rng_.below(3));
    if (rng_.chance(15)) op.wait = chunks::Wait::kTry;
    if (rng_.chance(15)) op.patience = 1 + rng_.below(30);
    ops_->push_back(op);
    work(op);
    if (!pushed && chunk + 1 < count && rng_.chance(25))
      scope(chunk + 1 + rng_.below(count - chunk - 1), count, true);
    work(op);
    op.kind = ChunkOpKind::kClose;
    if (pushed && rng_.chance(40)) op.range = part(chunk);
    ops_->push_back(op);
  }

  // Some of the chunk's words.
  chunks::Range part(std::uint32_t chunk) {
    std::uint32_t words = out_.all[chunk].words;
    std::uint32_t from = rng_.below(words);
    return {8 * from, 8 * (1 + rng_.below(words - from))};
  }

  void work(ChunkOp op) {
    op.kind = ChunkOpKind::kWork;
    bool long_look = crowd_ && op.chunk == 0 && op.mode == chunks::Mode::kRead;
    for (std::uint32_t times = rng_.below(long_look ? 16 : 3); times > 0; --times)
      ops_->push_back(op);
  }

  void read(std::uint32_t chunk) {
    push(ChunkOpKind::kOpen, chunk);
    push(ChunkOpKind::kClose, chunk);
  }

  void push(ChunkOpKind kind, std::uint32_t chunk) {
    ops_->push_back({.kind = kind, .chunk = static_cast<std::uint8_t>(chunk)});
  }

  base::Prng& rng_;
  ChunkProgram& out_;
  std::vector<ChunkOp>* ops_ = nullptr;
  bool dying_ = false;
  bool servers_die_ = false;
  bool meets_ = false;
  bool crowd_ = false;         // many threads of a node look at versions of the first chunk
  std::uint32_t data_ = 0;     // chunks that are neither barriers nor signals
  std::uint32_t workers_ = 0;  // threads that are not subscribers
  std::uint32_t every_ = 1;    // one in so many threads enters the barrier
  std::vector<bool> phases_;   // by phase: a barrier, or else signals
};

constexpr std::string_view kOps[] = {"create",       "find",         "create with another size",
                                     "find nothing", "open",         "work",
                                     "close",        "subscribe",    "unsubscribe",
                                     "take",         "end the take", "take all",
                                     "drop",         "join",         "meet",
                                     "hint"};
constexpr std::string_view kModes[] = {"read", "write", "read and write"};

}  // namespace

void generate(base::Prng& rng, std::uint32_t nodes, ChunkProgram& out) {
  ChunkGenerator(rng, out).run(nodes);
}

std::string describe(const ChunkOp& op) {
  std::string text(kOps[static_cast<std::size_t>(op.kind)]);
  if (op.kind != ChunkOpKind::kFindNothing) text += " c" + std::to_string(op.chunk);
  if (op.kind == ChunkOpKind::kOpen) {
    text += " to " + std::string(kModes[static_cast<std::size_t>(op.mode)]);
    if (op.wait == chunks::Wait::kTry) text += ", try";
  }
  if (op.kind == ChunkOpKind::kSubscribe)
    text += ", policy " + std::to_string(static_cast<int>(op.policy)) + ", window " +
            std::to_string(op.window);
  if (op.kind == ChunkOpKind::kHint)
    text += " to " + std::to_string(static_cast<int>(op.coherence));
  if (op.range != chunks::Range{})
    text += ", bytes " + std::to_string(op.range.offset) + " to " +
            std::to_string(op.range.offset + op.range.bytes);
  if (op.count) text += ", " + std::to_string(op.count);
  if (op.patience) text += ", for " + std::to_string(op.patience);
  return text;
}

std::string describe(const ChunkProgram& program) {
  std::string text = std::to_string(program.nodes) + " nodes, " + std::to_string(program.servers) +
                     " servers, " + std::to_string(program.slots) + " slots, budget " +
                     std::to_string(program.budget_bytes) + " bytes\n";
  for (const ChunkProgram::Change& change : program.deaths)
    text += "  node " + std::to_string(change.node) + " dies at step " +
            std::to_string(change.step) +
            (change.goes_on ? " and goes on for " + std::to_string(change.goes_on) : "") + "\n";
  for (const ChunkProgram::Change& change : program.joins)
    text += "  node " + std::to_string(change.node) + " joins at step " +
            std::to_string(change.step) + "\n";
  for (const ChunkProgram::Change& change : program.leaves)
    text += "  node " + std::to_string(change.node) + " leaves from step " +
            std::to_string(change.step) + " on\n";
  if (!program.clusters.empty())
    text += "  relays keep " + std::to_string(program.relay_bytes) + " bytes\n";
  for (std::uint32_t n = 0; n < program.clusters.size(); ++n)
    text +=
        "  node " + std::to_string(n) + " in cluster " + std::to_string(program.clusters[n]) + "\n";
  for (const ChunkProgram::Chunk& chunk : program.all)
    text += "  " + chunk.name + ": " + std::to_string(8 * chunk.words) + " bytes" + ", coherence " +
            std::to_string(static_cast<int>(chunk.coherence)) +
            (chunk.home == chunks::kHomeByName    ? ""
             : chunk.home == chunks::kHomeAtFirst ? ", home at the first subscriber"
                                                  : ", home " + std::to_string(chunk.home)) +
            "\n";
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    text +=
        "thread " + std::to_string(t) + " on node " + std::to_string(program.thread_node[t]) + "\n";
    for (const ChunkOp& op : program.ops[t]) text += "  " + describe(op) + "\n";
  }
  return text;
}

}  // namespace terrane::sim
