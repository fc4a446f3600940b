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
inline constexpr std::uint32_t kMaxPlaces = 20;  // of a chunk on a node, including the home's

enum class ChunkOpKind : std::uint8_t {
  kCreate,
  kFind,
  kCreateOther,  // with another size than the existing chunk
  kFindNothing,  // a name under which no chunk is created
  kOpen,
  kWork,  // in an open scope: looks at all words, or writes the next one
  kClose,
  kSubscribe,  // with policy and window
  kUnsubscribe,
  kTake,  // opens a reading scope if a version comes in time
  kEndTake,
  kTakeAll,      // takes version after version until no thread writes any more
  kDrop,         // the copy leaves memory
  kJoinMeeting,  // of a barrier or a signal: the node subscribes to its count
  kMeet,         // waits until the thread's round is full, or until there are `count` signals
  kHint,         // gives the chunk another coherence
};

struct ChunkOp {
  ChunkOpKind kind = ChunkOpKind::kWork;
  std::uint8_t chunk = 0;
  chunks::Mode mode = chunks::Mode::kRead;
  chunks::Wait wait = chunks::Wait::kBlock;
  chunks::Policy policy = chunks::Policy::kBlock;
  std::uint32_t window = 1;
  std::uint64_t count = 0;
  std::uint32_t patience = 0;  // ns until the deadline; 0: for ever
  chunks::Coherence coherence = chunks::Coherence::kInvalidate;  // the new one of kHint
  chunks::Range range = {};  // that is subscribed to, or that its writer says is new
};

// The operations of a history's threads. If a scope does not open, its operations are skipped.
struct ChunkProgram {
  struct Chunk {
    std::string name;
    std::uint32_t words = 1;
    chunks::Coherence coherence = chunks::Coherence::kInvalidate;
    bool meeting = false;  // a barrier of `parties`, or a signal
    std::uint32_t parties = 0;
    bool changes = false;  // its coherence changes during the history
    std::uint32_t home = chunks::kHomeByName;
    // Whether the chunk may be pushed at some time.
    bool pushed() const { return changes || coherence != chunks::Coherence::kInvalidate; }
  };
  std::uint32_t nodes = 4;
  std::uint32_t servers = 1;  // the first nodes
  std::uint32_t slots = 1;
  std::uint64_t budget_bytes = 0;
  std::vector<std::uint32_t> clusters;  // by node; empty: there is only one
  std::uint64_t relay_bytes = 0;        // bytes of versions that a relay keeps
  // A node dies, joins or leaves when that many steps are done. The first server does not die, and
  // servers do not leave. A node that is declared dead may continue for `goes_on` more steps.
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

// Draws a program. `nodes`: 0 for 4 to 6.
void generate(base::Prng& rng, std::uint32_t nodes, ChunkProgram& out);
std::string describe(const ChunkOp& op);
std::string describe(const ChunkProgram& program);

}  // namespace terrane::sim
