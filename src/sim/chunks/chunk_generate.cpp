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
    draw_chunks();
    draw_threads();
    for (std::uint32_t t = 0; t < out_.threads(); ++t) thread(t);
  }

 private:
  void draw_chunks() {
    out_.all.clear();
    std::uint32_t count = 1 + rng_.below(kMaxChunks);
    std::uint64_t bytes = 0;
    for (std::uint32_t c = 0; c < count; ++c) {
      std::uint32_t words = 1 + rng_.below(kMaxWords);
      out_.all.push_back(
          {"chunk " + std::to_string(c) + "/" + std::to_string(rng_.below(1000)), words});
      bytes += 8 * words;
    }
    // Tight in half of the programs; sometimes too small for the largest chunk.
    out_.budget_bytes = rng_.chance(50) ? bytes : 8 * (kMaxWords - rng_.below(2) + rng_.below(6));
  }

  void draw_threads() {
    out_.thread_node.clear();
    out_.ops.clear();
    for (std::uint32_t n = 0; n < out_.nodes; ++n) {
      // A server need not have threads of its own.
      std::uint32_t threads = n < out_.servers && rng_.chance(40) ? 0 : 1 + rng_.below(2);
      if (n + 1 == out_.nodes) threads = std::max(threads, 1u);
      for (std::uint32_t t = 0; t < threads; ++t) out_.thread_node.push_back(n);
    }
    out_.ops.resize(out_.thread_node.size());
  }

  // Everybody gets to know all chunks; each is created by one thread at least.
  void thread(std::uint32_t t) {
    ops_ = &out_.ops[t];
    ops_->clear();
    auto count = static_cast<std::uint32_t>(out_.all.size());
    for (std::uint32_t c = 0; c < count; ++c) {
      bool creates = c % out_.threads() == t || rng_.chance(25);
      push(creates ? ChunkOpKind::kCreate : ChunkOpKind::kFind, c);
    }
    if (rng_.chance(10)) push(ChunkOpKind::kCreateOther, rng_.below(count));
    if (rng_.chance(10))
      ops_->push_back({.kind = ChunkOpKind::kFindNothing, .patience = rng_.below(2) * 5});
    std::uint32_t actions = 4 + rng_.below(8);
    for (std::uint32_t a = 0; a < actions; ++a) {
      if (rng_.chance(12)) push(ChunkOpKind::kDrop, rng_.below(count));
      scope(rng_.below(count), count);
    }
    for (std::uint32_t c = 0; c < count; ++c) read(c);
  }

  // Scopes within scopes go up the chunks' numbers: nobody waits in a ring.
  void scope(std::uint32_t chunk, std::uint32_t count) {
    ChunkOp op{.kind = ChunkOpKind::kOpen, .chunk = static_cast<std::uint8_t>(chunk)};
    op.mode = static_cast<chunks::Mode>(rng_.below(3));
    if (rng_.chance(15)) op.wait = chunks::Wait::kTry;
    if (rng_.chance(15)) op.patience = 1 + rng_.below(30);
    ops_->push_back(op);
    work(op);
    if (chunk + 1 < count && rng_.chance(25))
      scope(chunk + 1 + rng_.below(count - chunk - 1), count);
    work(op);
    op.kind = ChunkOpKind::kClose;
    ops_->push_back(op);
  }

  void work(ChunkOp op) {
    op.kind = ChunkOpKind::kWork;
    for (std::uint32_t times = rng_.below(3); times > 0; --times) ops_->push_back(op);
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
};

constexpr std::string_view kOps[] = {
    "create", "find", "create with another size", "find nothing", "open", "work", "close", "drop"};
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
  if (op.patience) text += ", for " + std::to_string(op.patience);
  return text;
}

std::string describe(const ChunkProgram& program) {
  std::string text = std::to_string(program.nodes) + " nodes, " + std::to_string(program.servers) +
                     " servers, " + std::to_string(program.slots) + " slots, budget " +
                     std::to_string(program.budget_bytes) + " bytes\n";
  for (const ChunkProgram::Chunk& chunk : program.all)
    text += "  " + chunk.name + ": " + std::to_string(8 * chunk.words) + " bytes\n";
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    text +=
        "thread " + std::to_string(t) + " on node " + std::to_string(program.thread_node[t]) + "\n";
    for (const ChunkOp& op : program.ops[t]) text += "  " + describe(op) + "\n";
  }
  return text;
}

}  // namespace terrane::sim
