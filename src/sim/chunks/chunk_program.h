#pragma once

#include <string>
#include <vector>

#include "base/prng.h"
#include "protocol/chunks/chunk_effects.h"

namespace terrane::sim {

namespace chunks = protocol::chunks;

inline constexpr std::uint32_t kMaxChunkNodes = 9;
inline constexpr std::uint32_t kMaxChunkThreads = 24;
inline constexpr std::uint32_t kMaxChunks = 6;
inline constexpr std::uint32_t kMaxWords = 4;    // of a chunk
inline constexpr std::uint32_t kMaxPlaces = 20;  // of a chunk on a node, the home's among them

enum class ChunkOpKind : std::uint8_t {
  kCreate,
  kFind,
  kCreateOther,  // another size under a name that is there
  kFindNothing,  // a name that nobody creates
  kOpen,
  kWork,  // in an open scope: looks at all words, or writes the next
  kClose,
  kSubscribe,  // value: policy, window
  kUnsubscribe,
  kTake,  // a reading scope, if a version comes in time
  kEndTake,
  kTakeAll,      // takes version after version until nobody writes any more
  kDrop,         // the copy leaves memory
  kJoinMeeting,  // a barrier or a signal: this node hears of its count
  kMeet,         // waits until the thread's round is full, or until there are `count` signals
  kHint,         // the chunk keeps to another coherence from now on
};

struct ChunkOp {
  ChunkOpKind kind = ChunkOpKind::kWork;
  std::uint8_t chunk = 0;
  chunks::Mode mode = chunks::Mode::kRead;
  chunks::Wait wait = chunks::Wait::kBlock;
  chunks::Policy policy = chunks::Policy::kBlock;
  std::uint32_t window = 1;
  std::uint64_t count = 0;
  std::uint32_t patience = 0;                                    // until the deadline; 0: for ever
  chunks::Coherence coherence = chunks::Coherence::kInvalidate;  // that it is to keep to
  chunks::Range range = {};  // that is subscribed to, or that its writer says is new
};

// What the threads of a history do. A scope that did not open is passed over up to its end.
struct ChunkProgram {
  struct Chunk {
    std::string name;
    std::uint32_t words = 1;
    chunks::Coherence coherence = chunks::Coherence::kInvalidate;
    bool meeting = false;  // a barrier of `parties`, or a signal
    std::uint32_t parties = 0;
    bool changes = false;  // its coherence, on the way
    std::uint32_t home = chunks::kHomeByName;
    // At any time.
    bool pushed() const { return changes || coherence != chunks::Coherence::kInvalidate; }
  };
  std::uint32_t nodes = 4;
  std::uint32_t servers = 1;  // the first nodes
  std::uint32_t slots = 1;
  std::uint64_t budget_bytes = 0;
  std::vector<std::uint32_t> clusters;  // by node; empty: there is one
  std::uint64_t relay_bytes = 0;        // of versions that a relay keeps
  // A node dies, joins, or leaves once that many steps are done. The first server stays, and
  // servers do not leave. A node that is declared dead may go on for some steps more.
  struct Change {
    std::uint32_t node = 0;
    std::uint32_t step = 0;
    std::uint32_t goes_on = 0;
  };
  std::vector<Change> deaths;
  std::vector<Change> joins;
  std::vector<Change> leaves;
  std::vector<Chunk> all;
  std::vector<std::uint32_t> thread_node;
  std::vector<std::vector<ChunkOp>> ops;  // by thread

  std::uint32_t threads() const { return static_cast<std::uint32_t>(thread_node.size()); }
};

// Draws a program; nodes: 0 for 4 to 6.
void generate(base::Prng& rng, std::uint32_t nodes, ChunkProgram& out);
std::string describe(const ChunkOp& op);
std::string describe(const ChunkProgram& program);

}  // namespace terrane::sim
