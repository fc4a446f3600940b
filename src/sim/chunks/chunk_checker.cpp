#include "sim/chunks/chunk_checker.h"

#include <algorithm>

namespace terrane::sim {

using chunks::Mode;

void ChunkChecker::begin(const ChunkProgram& program) {
  program_ = &program;
  for (std::size_t c = 0; c < program.all.size(); ++c)
    chunks_[c].coherence = program.all[c].coherence;
  for (Chunk& chunk : chunks_) {
    cut(chunk, 0);
    chunk.stamps[0] = 0;
    chunk.readers = chunk.writers = 0;
    chunk.seen.fill(0);
  }
  taken_.fill({});
}

// Forgets the versions after this one.
void ChunkChecker::cut(Chunk& chunk, std::uint64_t version) {
  chunk.stamps.resize(version + 1);
  chunk.wrote.resize(version + 1);
}

void ChunkChecker::opened(std::uint32_t thread, std::uint32_t chunk, Mode mode,
                          std::uint64_t version, Words words) {
  Chunk& c = chunks_[chunk];
  bool pushed = c.coherence != chunks::Coherence::kInvalidate;
  bool writes = mode != Mode::kRead;
  std::uint64_t last = last_version(chunk);
  std::uint64_t& seen = c.seen[program_->thread_node[thread]];
  if ((c.writers > 0 && (writes || !pushed)) || (writes && !pushed && c.readers > 0))
    violated(Fault::kTwoHolders, "thread {} opens chunk {} to {}; {} write and {} read it", thread,
             chunk, writes ? "write" : "read", c.writers, c.readers);
  if (writes && c.coherence == chunks::Coherence::kOnce && last > 0)
    violated(Fault::kTwoHolders, "thread {} may write chunk {}, which is written once", thread,
             chunk);
  bool old = pushed && !writes ? version < seen || version > last : version != last;
  if (old)
    violated(Fault::kWrongValue, "thread {} opens version {} of chunk {}; the last is {}, seen {}",
             thread, version, chunk, last, seen);
  seen = version;
  ++(writes ? c.writers : c.readers);
  if (mode != Mode::kWrite) looks(thread, chunk, version, words);
}

void ChunkChecker::subscribed(std::uint32_t thread, std::uint32_t chunk, chunks::Policy policy,
                              chunks::Range range) {
  taken_[thread] = {.last = 0,
                    .since = last_version(chunk),
                    .block = policy == chunks::Policy::kBlock,
                    .range = range.within(8 * program_->all[chunk].words)};
}

bool ChunkChecker::touches(std::uint32_t chunk, std::uint64_t version, chunks::Range range) const {
  return chunks_[chunk].wrote[version].within(8 * program_->all[chunk].words).touches(range);
}

bool ChunkChecker::took_last(std::uint32_t thread, std::uint32_t chunk) const {
  std::uint64_t last = last_version(chunk);
  while (last > 0 && !touches(chunk, last, taken_[thread].range)) --last;
  return taken_[thread].last >= last;
}

void ChunkChecker::took(std::uint32_t thread, std::uint32_t chunk, std::uint64_t version,
                        std::uint64_t missed, chunks::Range changed, Words words) {
  Chunk& c = chunks_[chunk];
  Taken& taken = taken_[thread];
  if (version <= taken.last || version > last_version(chunk))
    violated(Fault::kWrongValue, "thread {} takes version {} of chunk {} after {}", thread, version,
             chunk, taken.last);
  for (std::uint64_t v = taken.since + 1; taken.last == 0 && v < version; ++v)
    if (touches(chunk, v, taken.range))
      violated(Fault::kWrongValue,
               "thread {} has subscribed to chunk {} at version {}, and begins with {}", thread,
               chunk, taken.since, version);
  std::uint64_t news = 0;  // versions of its range since the last one that it took
  for (std::uint64_t v = taken.last + 1; taken.last > 0 && v <= version; ++v) {
    if (!touches(chunk, v, taken.range)) continue;
    ++news;
    chunks::Range wrote = c.wrote[v].within(8 * program_->all[chunk].words);
    if (changed.with(wrote) != changed)
      violated(Fault::kWrongValue,
               "thread {} takes version {} of chunk {} and is not told what {} "
               "changed",
               thread, version, chunk, v);
  }
  if (taken.last == 0 ? missed != 0 : news != missed + 1 || (taken.block && missed > 0))
    violated(Fault::kWrongValue, "thread {} takes version {} of chunk {} after {}, {} missed",
             thread, version, chunk, taken.last, missed);
  taken.last = version;
  std::uint64_t& seen = c.seen[program_->thread_node[thread]];
  seen = std::max(seen, version);
  ++c.readers;
  looks(thread, chunk, version, words);
}

void ChunkChecker::looks(std::uint32_t thread, std::uint32_t chunk, std::uint64_t version,
                         Words words) const {
  for (std::uint64_t word : words)
    if (word != chunks_[chunk].stamps[version])
      violated(Fault::kWrongValue, "thread {} sees {:#x} in chunk {}; it should be {:#x}", thread,
               word, chunk, chunks_[chunk].stamps[version]);
}

void ChunkChecker::closed(std::uint32_t thread, std::uint32_t chunk, Mode mode, std::uint64_t stamp,
                          chunks::Range wrote) {
  Chunk& c = chunks_[chunk];
  if (mode == Mode::kRead) {
    --c.readers;
    return;
  }
  --c.writers;
  c.stamps.push_back(stamp);
  c.wrote.push_back(wrote);
  c.seen[program_->thread_node[thread]] = last_version(chunk);
}

void ChunkChecker::remade(std::uint32_t chunk) {
  cut(chunks_[chunk], 0);
  chunks_[chunk].coherence = program_->all[chunk].coherence;
  chunks_[chunk].stamps[0] = 0;
  chunks_[chunk].readers = chunks_[chunk].writers = 0;
  chunks_[chunk].seen.fill(0);
}

void ChunkChecker::lost(std::uint32_t chunk, std::uint64_t from, std::uint64_t version) {
  Chunk& c = chunks_[chunk];
  std::uint64_t seen = *std::max_element(c.seen.begin(), c.seen.end());
  bool zeros = from == chunks::Lost::kNothing;
  if (version < seen || (version == seen && from != version) || (!zeros && from >= c.stamps.size()))
    violated(Fault::kWrongValue, "chunk {} goes back to {} as {}, after {} was seen", chunk, from,
             version, seen);
  std::uint64_t stamp = zeros ? 0 : c.stamps[from];
  cut(c, version);
  c.stamps[version] = stamp;
}

void ChunkChecker::died(std::uint32_t chunk, Mode mode) {
  --(mode == Mode::kRead ? chunks_[chunk].readers : chunks_[chunk].writers);
}

void ChunkChecker::truncate(std::uint32_t chunk, std::uint64_t version) {
  Chunk& c = chunks_[chunk];
  if (version < *std::max_element(c.seen.begin(), c.seen.end()))
    violated(Fault::kWrongValue, "chunk {} goes back to version {}", chunk, version);
  cut(c, version);
}

void ChunkChecker::forget_node(std::uint32_t node) {
  for (Chunk& chunk : chunks_) chunk.seen[node] = 0;
}

}  // namespace terrane::sim
