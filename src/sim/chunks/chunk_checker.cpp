#include "sim/chunks/chunk_checker.h"

namespace terrane::sim {

void ChunkChecker::begin(const ChunkProgram&) { chunks_.fill({}); }

void ChunkChecker::opened(std::uint32_t thread, std::uint32_t chunk, chunks::Mode mode,
                          std::uint64_t version, Words words) {
  Chunk& c = chunks_[chunk];
  bool writes = mode != chunks::Mode::kRead;
  if (c.writers > 0 || (writes && c.readers > 0))
    violated(Fault::kTwoHolders, "thread {} opens chunk {} to {}; {} write and {} read it", thread,
             chunk, writes ? "write" : "read", c.writers, c.readers);
  if (version != c.version)
    violated(Fault::kWrongValue, "thread {} opens version {} of chunk {}; it should be {}", thread,
             version, chunk, c.version);
  ++(writes ? c.writers : c.readers);
  if (mode != chunks::Mode::kWrite) looks(thread, chunk, words);
}

void ChunkChecker::looks(std::uint32_t thread, std::uint32_t chunk, Words words) const {
  for (std::uint64_t word : words)
    if (word != chunks_[chunk].stamp)
      violated(Fault::kWrongValue, "thread {} sees {:#x} in chunk {}; it should be {:#x}", thread,
               word, chunk, chunks_[chunk].stamp);
}

void ChunkChecker::closed(std::uint32_t, std::uint32_t chunk, chunks::Mode mode,
                          std::uint64_t stamp) {
  Chunk& c = chunks_[chunk];
  if (mode == chunks::Mode::kRead) {
    --c.readers;
    return;
  }
  --c.writers;
  c.stamp = stamp;
  ++c.version;
}

}  // namespace terrane::sim
