// Chunks of Terrane: rows "row=NAME bytes=N ns=T". By bench_chunks.py; by hand:
//   terrane run -n 3 terrane_bench_chunk_rows frames BYTES FRAMES [whole]    node 0 to all others
//   terrane run -n 16 terrane_bench_chunk_rows scopes BYTES CHUNKS OPERATIONS
//     BYTES 0: sizes from 1 KiB to 1 MiB, each power of two as often as the next
//   terrane run -n 1 terrane_bench_chunk_rows alone BYTES CHUNKS SAMPLES     scopes that need no
//   other node terrane run -n 3 --heartbeat 0 terrane_bench_chunk_rows stall BYTES SECONDS
//   block|latest|drop terrane run -n 2 terrane_bench_chunk_rows wake IDLE_US TIMES
//   terrane run -n 2 terrane_bench_chunk_rows flow BYTES VERSIONS   from node 0 to the last one, as
//   fast as it takes them terrane_bench_chunk_rows memcpy BYTES FRAMES
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <terrane/chunks.hpp>

#include "frames.h"

using namespace terrane::chunks;
using namespace terrane::bench::frames;

namespace {

// One frame at a time: what is measured is the way of one, not of a queue.
void send_frames(std::size_t bytes, int frames, bool whole) {
  Job job;
  Chunk<char> chunk = job.create<char>("frames", bytes, Coherence::kStream);
  auto others = static_cast<std::uint64_t>(job.nodes() - 1);
  Account account(bytes, whole);
  if (job.node() == 0) {
    await("ready", others);
    account.begin();
    for (int frame = 1; frame <= frames; ++frame) {
      {
        Scope<char> scope = chunk.write();
        fill(scope.data(), bytes, frame);
      }
      await("seen", others * static_cast<std::uint64_t>(frame));
    }
    return account.print(frames);
  }
  Subscription<char> subscription = chunk.subscribe(Policy::kBlock, 2);
  signal("ready");
  account.begin();
  for (int frame = 1; frame <= frames; ++frame) {
    {
      Scope<const char> scope = subscription.take();
      account.take(scope.data(), frame);
    }
    signal("seen");
  }
  account.print(frames);
}

std::uint64_t next(std::uint64_t& random) {
  random ^= random << 13, random ^= random >> 7, random ^= random << 17;
  return random;
}

// The same on all nodes.
std::vector<std::size_t> sizes_of(std::size_t bytes, std::size_t chunks) {
  std::vector<std::size_t> sizes(chunks, bytes);
  std::uint64_t random = 4711;
  for (std::size_t& size : sizes)
    if (bytes == 0)
      size = static_cast<std::size_t>(
          1024 * std::exp2(10 * static_cast<double>(next(random) >> 11) * 0x1p-53));
  return sizes;
}

// Clients that look at random chunks, and change every second one.
void open_scopes(std::size_t bytes, std::size_t chunks, int operations) {
  Job job;
  std::vector<Chunk<char>> all;
  std::vector<std::size_t> sizes = sizes_of(bytes, chunks);
  auto nodes = static_cast<std::size_t>(job.nodes()), node = static_cast<std::size_t>(job.node());
  for (std::size_t c = 0; c < chunks; ++c)
    all.push_back(job.create<char>("chunk " + std::to_string(c), sizes[c]));
  for (std::size_t c = node; c < chunks; c += nodes) fill(all[c].write().data(), sizes[c], 1);
  barrier("begin", static_cast<std::uint32_t>(nodes));
  std::vector<std::uint64_t> reads, writes;
  std::uint64_t random = 88172645463325252ull + node, from = now_ns();
  for (int i = 0; i < operations; ++i) {
    std::size_t c = next(random) % chunks;
    std::uint64_t begin = now_ns();
    if ((random >> 40) % 2 == 0) {
      if (all[c].read()[sizes[c] - 1] == 0) std::abort();
      reads.push_back(now_ns() - begin);
    } else {
      all[c].read_write()[0] += 1;
      writes.push_back(now_ns() - begin);
    }
  }
  std::uint64_t took = now_ns() - from;
  barrier("end", static_cast<std::uint32_t>(nodes));
  for (auto [name, values] : {std::pair{"read", &reads}, {"read-write", &writes}})
    for (auto [part, suffix] : {std::pair{0.5, "median"}, {0.99, "p99"}, {1.0, "max"}})
      std::printf("row=%s-%s bytes=%zu ns=%lu\n", name, suffix, bytes,
                  static_cast<unsigned long>(percentile(*values, part)));
  std::printf("row=rate bytes=%zu ns=%.3f\n", bytes,
              static_cast<double>(took) / static_cast<double>(operations));
}

// What a scope costs where no other node is needed, every second one read-write: the median of
// samples of a thousand; and the processor time of all threads.
void open_alone(std::size_t bytes, std::size_t chunks, int samples) {
  constexpr std::size_t kScopes = 1000;
  Job job;
  std::vector<Chunk<char>> all;
  for (std::size_t c = 0; c < chunks; ++c)
    all.push_back(job.create<char>("chunk " + std::to_string(c), bytes));
  for (Chunk<char>& chunk : all) fill(chunk.write().data(), bytes, 1);
  std::vector<std::uint64_t> times;
  std::uint64_t cpu_from = cpu_ns();
  for (int sample = 0; sample < samples; ++sample) {
    std::uint64_t begin = now_ns();
    for (std::size_t i = 0; i < kScopes; i += 2) {
      if (all[i % chunks].read()[bytes - 1] == 0) std::abort();
      all[i % chunks].read_write()[0] += 1;
    }
    times.push_back(now_ns() - begin);
  }
  double cpu = static_cast<double>(cpu_ns() - cpu_from) / samples / kScopes;
  std::printf("row=scope bytes=%zu ns=%.1f\n", bytes,
              static_cast<double>(percentile(times, 0.5)) / kScopes);
  std::printf("row=scope-cpu bytes=%zu ns=%.1f\n", bytes, cpu);
}

// Frames for so many seconds, as fast as they are taken; meanwhile somebody stops node 1. The last
// one has all bits set in front.
void stall(std::size_t bytes, double seconds, std::string_view policy) {
  Job job;
  Chunk<char> chunk = job.create<char>("frames", bytes, Coherence::kStream);
  auto others = static_cast<std::uint64_t>(job.nodes() - 1);
  std::uint64_t frames = 0, last = 0, end_ns = 0;
  auto say = [&] {
    std::printf("node=%d pid=%d\n", job.node(), ::getpid());
    std::fflush(stdout);
  };
  if (job.node() == 0) {
    await("ready", others);
    say();
    end_ns = now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
    for (bool over = false; !over; ++frames) {
      Scope<char> scope = chunk.write();
      over = now_ns() >= end_ns;
      fill(scope.data(), bytes, 1);
      if (over) std::memset(scope.data(), -1, sizeof last);
    }
  } else {
    Policy how = policy == "block"    ? Policy::kBlock
                 : policy == "latest" ? Policy::kLatest
                                      : Policy::kDrop;
    Subscription<char> subscription = chunk.subscribe(how, 4);
    signal("ready");
    say();
    for (; last != ~0ull; ++frames) {
      Scope<const char> scope = subscription.take();
      std::memcpy(&last, scope.data(), sizeof last);
      for (std::size_t at = 0; at < bytes; at += 4096)  // all of it becomes resident
        if (scope[at] != 1 && last != ~0ull && at > 0) std::abort();
    }
  }
  barrier("end", static_cast<std::uint32_t>(job.nodes()));
  std::printf("row=frames bytes=%zu ns=%lu\n", bytes, static_cast<unsigned long>(frames));
}

// How long a receiver that has waited for a while takes to wake, and what its waiting costs.
void wake(int idle_us, int times) {
  Job job;
  Chunk<char> chunk = job.create<char>("bell", 64, Coherence::kStream);
  Account account(64, false);
  if (job.node() == 0) {
    await("ready", 1);
    for (int i = 1; i <= times; ++i) {
      ::usleep(static_cast<useconds_t>(idle_us));
      {
        Scope<char> scope = chunk.write();
        fill(scope.data(), 64, i);
      }
      await("seen", static_cast<std::uint64_t>(i));
    }
    return;
  }
  Subscription<char> subscription = chunk.subscribe(Policy::kBlock, 2);
  signal("ready");
  account.begin();
  for (int i = 1; i <= times; ++i) {
    {
      Scope<const char> scope = subscription.take();
      account.take(scope.data(), i);
    }
    signal("seen");
  }
  account.print(times);
}

// Versions one after the other, with a window as it is measured. A version's time, at the
// subscriber.
void flow(std::size_t bytes, int versions) {
  Job job;
  Chunk<char> chunk = job.create<char>("flow", bytes, Coherence::kStream, 0);
  if (job.node() == 0) {
    await("ready", 1);
    for (int version = 0; version < versions; ++version) chunk.write();
    return;
  }
  if (job.node() + 1 != job.nodes()) return;
  Subscription<char> subscription = chunk.subscribe(Policy::kBlock, 0);
  signal("ready");
  subscription.take();
  std::uint64_t from = now_ns();
  for (int version = 1; version < versions; ++version) subscription.take();
  std::printf(
      "row=flow bytes=%zu ns=%lu\n", bytes,
      static_cast<unsigned long>((now_ns() - from) / static_cast<std::uint64_t>(versions - 1)));
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
  std::string_view part = argc > 3 ? argv[1] : "", last = argc > 4 ? argv[4] : "";
  std::size_t bytes = argc > 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (part == "frames") send_frames(bytes, std::atoi(argv[3]), last == "whole");
  if (part == "flow") flow(bytes, std::atoi(argv[3]));
  if (part == "memcpy") copy_frames(bytes, std::atoi(argv[3]));
  if (part == "alone" && argc > 4)
    open_alone(bytes, std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4]));
  if (part == "stall") stall(bytes, std::atof(argv[3]), last);
  if (part == "wake") wake(std::atoi(argv[2]), std::atoi(argv[3]));
  if (part == "scopes" && argc > 4)
    open_scopes(bytes, std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4]));
  return 0;
}
