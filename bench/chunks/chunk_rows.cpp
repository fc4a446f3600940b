// Chunks of Terrane: rows "row=NAME bytes=N ns=T". By bench_chunks.py; by hand:
//   terrane run -n 3 terrane_bench_chunk_rows frames BYTES FRAMES    node 0 to all others
//   terrane run -n 16 terrane_bench_chunk_rows scopes BYTES CHUNKS OPERATIONS
//   terrane_bench_chunk_rows memcpy BYTES FRAMES
#include <cstdlib>
#include <string>
#include <string_view>
#include <terrane/chunks.hpp>

#include "frames.h"

using namespace terrane::chunks;
using namespace terrane::bench::frames;

namespace {

// One frame at a time: what is measured is the way of one, not of a queue.
void send_frames(std::size_t bytes, int frames) {
  Job job;
  Chunk<char> chunk = job.create<char>("frames", bytes, Coherence::kStream);
  auto others = static_cast<std::uint64_t>(job.nodes() - 1);
  std::vector<std::uint64_t> ages;
  if (job.node() == 0) {
    await("ready", others);
    for (int frame = 1; frame <= frames; ++frame) {
      {
        Scope<char> scope = chunk.write();
        fill(scope.data(), bytes, frame);
      }
      await("seen", others * static_cast<std::uint64_t>(frame));
    }
    return;
  }
  Subscription<char> subscription = chunk.subscribe(Policy::kBlock, 2);
  signal("ready");
  for (int frame = 1; frame <= frames; ++frame) {
    {
      Scope<const char> scope = subscription.take();
      ages.push_back(age_ns(scope.data(), bytes, frame));
    }
    signal("seen");
  }
  print_readable(bytes, ages);
}

// Clients that look at random chunks, and change every second one.
void open_scopes(std::size_t bytes, std::size_t chunks, int operations) {
  Job job;
  std::vector<Chunk<char>> all;
  auto nodes = static_cast<std::size_t>(job.nodes()), node = static_cast<std::size_t>(job.node());
  for (std::size_t c = 0; c < chunks; ++c)
    all.push_back(job.create<char>("chunk " + std::to_string(c), bytes));
  for (std::size_t c = node; c < chunks; c += nodes) fill(all[c].write().data(), bytes, 1);
  barrier("begin", static_cast<std::uint32_t>(nodes));
  std::vector<std::uint64_t> reads, writes;
  std::uint64_t random = 88172645463325252ull + node, from = now_ns();
  for (int i = 0; i < operations; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    Chunk<char> chunk = all[random % chunks];
    std::uint64_t begin = now_ns();
    if ((random >> 40) % 2 == 0) {
      if (chunk.read()[bytes - 1] == 0) std::abort();
      reads.push_back(now_ns() - begin);
    } else {
      chunk.read_write()[0] += 1;
      writes.push_back(now_ns() - begin);
    }
  }
  std::uint64_t took = now_ns() - from;
  barrier("end", static_cast<std::uint32_t>(nodes));
  for (auto [name, values] : {std::pair{"read", &reads}, {"read-write", &writes}})
    for (auto [part, suffix] : {std::pair{0.5, "median"}, {0.99, "p99"}})
      std::printf("row=%s-%s bytes=%zu ns=%lu\n", name, suffix, bytes,
                  static_cast<unsigned long>(percentile(*values, part)));
  std::printf("row=rate bytes=%zu ns=%.3f\n", bytes,
              static_cast<double>(took) / static_cast<double>(operations));
}

// A consumer's own copy of a frame, which it would have to make without chunks.
void copy_frames(std::size_t bytes, int frames) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  std::vector<std::uint64_t> times;
  for (int frame = 0; frame < frames; ++frame) {
    fill(from.data(), bytes, frame);
    std::uint64_t begin = now_ns();
    std::memcpy(to.data(), from.data(), bytes);
    times.push_back(now_ns() - begin);
    if (to[bytes / 2] != from[bytes / 2]) std::abort();
  }
  std::printf("row=memcpy bytes=%zu ns=%lu\n", bytes,
              static_cast<unsigned long>(percentile(times, 0.5)));
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view part = argc > 3 ? argv[1] : "";
  std::size_t bytes = argc > 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (part == "frames") send_frames(bytes, std::atoi(argv[3]));
  if (part == "memcpy") copy_frames(bytes, std::atoi(argv[3]));
  if (part == "scopes" && argc > 4)
    open_scopes(bytes, std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4]));
  return 0;
}
