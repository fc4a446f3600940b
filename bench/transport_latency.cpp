// What a message costs between two processes of one host: round trip and bandwidth of a transport,
// polled and with a sleeping receiver, beside the floor that the machine gives: a flag in a shared
// cache line, and memcpy. All are measured by turns in the same run, since a shared machine's speed
// changes from second to second; medians are printed.
//
//   terrane_bench_messages [transport [turns]]

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "forked_nodes.h"
#include "platform/wait.h"

namespace terrane::bench {
namespace {

using conformance::Node;

constexpr std::array<std::size_t, 4> kSizes = {8, 4 << 10, 64 << 10, 1 << 20};
constexpr std::uint64_t kSleep_ns = 1'000'000'000;
constexpr std::uint32_t kSpins = 500;  // then the processor is given away once

// Few enough that a turn is short, many enough that it is measured well.
std::uint64_t round_trips(std::size_t bytes) {
  return bytes <= 4096 ? 2000 : bytes <= 65536 ? 400 : 40;
}
std::uint64_t stream_messages(std::size_t bytes) {
  return std::max<std::size_t>(20, (16 << 20) / (bytes + 4096));
}

// Copies each message to where it belongs, as a user does.
struct Counter final : transport::Receiver {
  void received(NodeId, transport::Bytes message) override {
    if (!message.empty()) std::memcpy(place.data(), message.data(), message.size());
    ++messages;
  }
  void lost(NodeId, std::string_view) override { std::_Exit(1); }
  std::uint64_t messages = 0;
  std::vector<std::byte> place = std::vector<std::byte>(kSizes.back());
};

enum class Wait { kPoll, kSleep };

// Polls until `count` messages have come; gives the processor away now and then, for machines that
// are busy.
void take(Node& node, Counter& counter, std::uint64_t count, Wait wait) {
  for (std::uint32_t empty = 0; counter.messages < count;) {
    if (node.transport.poll(counter) != 0) {
      empty = 0;
    } else if (wait == Wait::kSleep) {
      node.transport.sleep(kSleep_ns);
    } else if (++empty % kSpins == 0) {
      ::sched_yield();
    }
  }
  counter.messages -= count;
}

class Pair {
 public:
  explicit Pair(Node& node) : node_(node), buffer_(kSizes.back()), copy_(kSizes.back()) {}

  // Each returns nanoseconds a round trip, a message or a copy. Both nodes run the same sequence.
  double message_round_trip(std::size_t bytes, Wait wait);
  double message_stream(std::size_t bytes, Wait wait);
  double flag_round_trip();
  double copy(std::size_t bytes);
  void meet();
  std::uint64_t pause();

 private:
  bool first() const { return node_.self.value == 0; }
  NodeId peer() const { return NodeId{1 - node_.self.value}; }
  template <typename Body>
  double timed(std::uint64_t count, Body body) {
    meet();
    std::uint64_t start_ns = platform::now_ns();
    body();
    return static_cast<double>(platform::now_ns() - start_ns) / static_cast<double>(count);
  }

  Node& node_;
  Counter counter_;
  std::uint64_t meetings_ = 0;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> copy_;
};

// Waits for the other node, and moves on what is still queued here.
void Pair::meet() {
  auto& arrived = node_.board.words[48];
  arrived.fetch_add(1);
  ++meetings_;
  while (arrived.load() < 2 * meetings_) {
    node_.transport.poll(counter_);
    ::sched_yield();
  }
}

// Node 0 always polls. A receiver that sleeps is given the time to fall asleep, which does not
// count.
double Pair::message_round_trip(std::size_t bytes, Wait wait) {
  transport::Bytes message(buffer_.data(), bytes);
  std::uint64_t count = wait == Wait::kSleep ? 30 : round_trips(bytes);
  std::uint64_t paused_ns = 0;
  double ns = timed(count, [&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (wait == Wait::kSleep && first()) paused_ns += pause();
      if (first()) node_.transport.send(peer(), message);
      take(node_, counter_, 1, first() ? Wait::kPoll : wait);
      if (!first()) node_.transport.send(peer(), message);
    }
  });
  return ns - static_cast<double>(paused_ns) / static_cast<double>(count);
}

std::uint64_t Pair::pause() {
  constexpr std::uint64_t kPause_ns = 100'000;
  std::uint64_t start_ns = platform::now_ns();
  while (platform::now_ns() - start_ns < kPause_ns) ::sched_yield();
  return platform::now_ns() - start_ns;
}

double Pair::message_stream(std::size_t bytes, Wait wait) {
  transport::Bytes message(buffer_.data(), bytes);
  std::uint64_t count = stream_messages(bytes);
  return timed(count, [&] {
    if (first()) {
      for (std::uint64_t i = 0; i < count; ++i) node_.transport.send(peer(), message);
      take(node_, counter_, 1, Wait::kPoll);
    } else {
      take(node_, counter_, count, wait);
      node_.transport.send(peer(), transport::Bytes{});
    }
  });
}

double Pair::flag_round_trip() {
  constexpr std::uint64_t kCount = 2000;
  auto& ours = node_.board.words[first() ? 16 : 32];  // each on a line of its own
  auto& theirs = node_.board.words[first() ? 32 : 16];
  std::uint64_t start = ours.load();
  auto wait_for = [&](std::uint64_t value) {
    for (std::uint32_t empty = 1; theirs.load(std::memory_order_acquire) < value; ++empty) {
      if (empty % kSpins == 0) ::sched_yield();
    }
  };
  return timed(kCount, [&] {
    for (std::uint64_t i = 1; i <= kCount; ++i) {
      if (!first()) wait_for(start + i);
      ours.store(start + i, std::memory_order_release);
      if (first()) wait_for(start + i);
    }
  });
}

double Pair::copy(std::size_t bytes) {
  constexpr std::uint64_t kCount = 100;
  double ns = timed(kCount, [&] {
    for (std::uint64_t i = 0; first() && i < kCount; ++i) {
      std::memcpy(copy_.data(), buffer_.data(), bytes);
      asm volatile("" : : "r"(copy_.data()) : "memory");
    }
  });
  meet();
  return ns;
}

double median(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

struct Samples {
  std::vector<double> polled, slept, streamed, streamed_slept, copied;
};

void print(std::array<Samples, kSizes.size()>& samples, std::vector<double>& flag, const Node& node,
           int turns) {
  fmt::print("transport {}, two processes, medians of {} turns\n", node.transport.name(), turns);
  fmt::print("cache-line flag: round trip {:.2f} us\n", median(flag) / 1e3);
  fmt::print("{:>10} {:>14} {:>14} {:>14} {:>14} {:>14}\n", "bytes", "polled us", "sleeping us",
             "polled GB/s", "sleeping GB/s", "memcpy GB/s");
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    auto rate = [&](std::vector<double>& ns) {
      return static_cast<double>(kSizes[i]) / median(ns);
    };
    fmt::print("{:>10} {:>14.2f} {:>14.2f} {:>14.3f} {:>14.3f} {:>14.2f}\n", kSizes[i],
               median(samples[i].polled) / 1e3, median(samples[i].slept) / 1e3,
               rate(samples[i].streamed), rate(samples[i].streamed_slept), rate(samples[i].copied));
  }
}

// A processor for each node, where there are two: the scheduler likes to put those who talk on the
// same one.
void take_own_processor(const Node& node) {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  std::uint32_t seen = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable) || seen++ != node.self.value) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    ::sched_setaffinity(0, sizeof own, &own);
  }
}

void measure(Node& node, int turns) {
  take_own_processor(node);
  Pair pair(node);
  std::array<Samples, kSizes.size()> samples;
  std::vector<double> flag;
  constexpr int kWarmTurns = 2;
  for (int turn = -kWarmTurns; turn < turns; ++turn) {
    double flag_ns = pair.flag_round_trip();
    if (turn >= 0) flag.push_back(flag_ns);
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      Samples& of_size = samples[i];
      std::size_t bytes = kSizes[i];
      of_size.polled.push_back(pair.message_round_trip(bytes, Wait::kPoll));
      of_size.slept.push_back(pair.message_round_trip(bytes, Wait::kSleep));
      of_size.streamed.push_back(pair.message_stream(bytes, Wait::kPoll));
      of_size.streamed_slept.push_back(pair.message_stream(bytes, Wait::kSleep));
      of_size.copied.push_back(pair.copy(bytes));
      if (turn < 0) of_size = {};
    }
  }
  if (node.self.value == 0) print(samples, flag, node, turns);
  std::fflush(stdout);
  pair.meet();
}

}  // namespace
}  // namespace terrane::bench

int main(int argc, char** argv) {
  std::string transport = argc > 1 ? argv[1] : "shm";
  int turns = argc > 2 ? std::atoi(argv[2]) : 15;
  if (turns < 1) turns = 1;
  auto wrong = terrane::conformance::run_job(
      {.transport = transport, .nodes = 2, .timeout_s = 300},
      [turns](terrane::conformance::Node& node) { terrane::bench::measure(node, turns); });
  fmt::print(stderr, "{}", wrong);
  return wrong.empty() ? 0 : 1;
}
