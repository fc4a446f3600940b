#include "runtime/chunks/hot_streams.h"

#include <algorithm>

namespace terrane::runtime::chunks {

void HotStreams::note(ChunkId chunk, std::uint64_t written, std::uint64_t bytes,
                      std::uint64_t taken, std::uint64_t waited_ns) {
  std::lock_guard hold(mutex_);
  auto at = streams_.find(chunk.value);
  if (at == streams_.end()) {
    if (streams_.size() >= kMostChunks) return;
    at = streams_.try_emplace(chunk.value).first;
  }
  bootstrap::StreamCounts& counts = at->second.counts;
  counts.written += written;
  counts.written_bytes += bytes;
  counts.taken += taken;
  counts.waited_ns += waited_ns;
}

std::vector<bootstrap::StreamSnapshot> HotStreams::busiest(
    std::size_t most, const std::function<std::string(ChunkId)>& name) {
  struct Hot {
    std::uint64_t heat, chunk;
    bootstrap::StreamCounts recent, total;
  };
  std::vector<Hot> hot;
  {
    std::lock_guard hold(mutex_);
    for (auto& [chunk, stream] : streams_) {
      const bootstrap::StreamCounts &now = stream.counts, &seen = stream.seen;
      bootstrap::StreamCounts recent{now.written - seen.written,
                                     now.written_bytes - seen.written_bytes, now.taken - seen.taken,
                                     now.waited_ns - seen.waited_ns};
      stream.heat = stream.heat / 2 + recent.written + recent.taken;
      stream.seen = now;
      if (stream.heat > 0) hot.push_back({stream.heat, chunk, recent, now});
    }
  }
  std::sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) {
    return a.heat != b.heat ? a.heat > b.heat : a.chunk < b.chunk;
  });
  if (hot.size() > most) hot.resize(most);
  std::vector<bootstrap::StreamSnapshot> all;
  for (const Hot& one : hot) all.push_back({name(ChunkId{one.chunk}), one.recent, one.total});
  return all;
}

}  // namespace terrane::runtime::chunks
