// What a message costs between two processes by one of our transports: round trip and bandwidth,
// with a peer that polls and one that sleeps. One turn; bench_messages.py lets programs take turns.
//
//   terrane_bench_transport_rows TRANSPORT

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "forked_nodes.h"
#include "messages/rows.h"
#include "platform/wait.h"

namespace terrane::bench {
namespace {

using conformance::Node;

constexpr std::uint64_t kSleep_ns = 1'000'000'000;
constexpr std::uint64_t kFallAsleep_ns = 100'000;

enum class Wait : std::uint8_t { kPoll, kSleep };

// Copies each message to where it belongs, as a user does.
struct Counter final : transport::Receiver {
  void received(NodeId, transport::Bytes message) override {
    if (!message.empty()) std::memcpy(place.data(), message.data(), message.size());
    ++messages;
  }
  void lost(NodeId, std::string_view) override { std::_Exit(1); }
  std::uint64_t messages = 0;
  std::vector<std::byte> place = std::vector<std::byte>(kStreamBytes.back());
};

// One of the two; both run the same sequence. Node 0 measures, and always polls.
class Pair {
 public:
  explicit Pair(Node& node) : node_(node), buffer_(kStreamBytes.back()) {}

  // Nanoseconds a round trip, or a message.
  double round_trip(std::size_t bytes, Wait wait);
  double stream(std::size_t bytes, Wait wait);
  bool first() const { return node_.self.value == 0; }

 private:
  NodeId peer() const { return NodeId{1 - node_.self.value}; }
  void take(std::uint64_t count, Wait wait);

  Node& node_;
  Counter counter_;
  std::vector<std::byte> buffer_;
};

void Pair::take(std::uint64_t count, Wait wait) {
  if (wait == Wait::kPoll) node_.transport.attend();
  for (std::uint32_t empty = 0; counter_.messages < count;) {
    if (node_.transport.poll(counter_) != 0) {
      empty = 0;
    } else if (wait == Wait::kSleep) {
      node_.transport.sleep(kSleep_ns);
    } else if (++empty % kSpins == 0) {
      ::sched_yield();
    }
  }
  if (wait == Wait::kPoll) node_.transport.unattend();
  counter_.messages -= count;
}

// A peer that sleeps is given the time to fall asleep, which does not count.
double Pair::round_trip(std::size_t bytes, Wait wait) {
  transport::Bytes message(buffer_.data(), bytes);
  std::uint64_t count = wait == Wait::kSleep ? kSleptRoundTrips : kRoundTrips;
  std::uint64_t total_ns = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t start_ns = platform::now_ns();
    if (first() && wait == Wait::kSleep) {
      while (platform::now_ns() - start_ns < kFallAsleep_ns) ::sched_yield();
      start_ns = platform::now_ns();
    }
    if (first()) node_.transport.send(peer(), message);
    take(1, first() ? Wait::kPoll : wait);
    if (!first()) node_.transport.send(peer(), message);
    total_ns += platform::now_ns() - start_ns;
  }
  return static_cast<double>(total_ns) / static_cast<double>(count);
}

double Pair::stream(std::size_t bytes, Wait wait) {
  transport::Bytes message(buffer_.data(), bytes);
  std::uint64_t count = stream_messages(bytes);
  std::uint64_t start_ns = platform::now_ns();
  if (first()) {
    for (std::uint64_t i = 0; i < count; ++i) node_.transport.send(peer(), message);
    take(1, Wait::kPoll);
  } else {
    take(count, wait);
    node_.transport.send(peer(), transport::Bytes{});
  }
  return static_cast<double>(platform::now_ns() - start_ns) / static_cast<double>(count);
}

void measure(Node& node) {
  take_own_processor(node.self.value);
  Pair pair(node);
  pair.round_trip(8, Wait::kPoll);  // warm
  for (Wait wait : {Wait::kPoll, Wait::kSleep}) {
    const char* name = wait == Wait::kPoll ? "poll" : "sleep";
    for (std::size_t bytes : kLatencyBytes) {
      double ns = pair.round_trip(bytes, wait);
      if (pair.first()) print_row("latency", bytes, name, ns);
    }
    for (std::size_t bytes : kStreamBytes) {
      double ns = pair.stream(bytes, wait);
      if (pair.first()) print_row("stream", bytes, name, ns);
    }
  }
  node.barrier();
}

}  // namespace
}  // namespace terrane::bench

int main(int argc, char** argv) {
  std::string transport = argc > 1 ? argv[1] : "shm";
  auto wrong = terrane::conformance::run_job({.transport = transport, .nodes = 2, .timeout_s = 300},
                                             [](auto& node) { terrane::bench::measure(node); });
  fmt::print(stderr, "{}", wrong);
  return wrong.empty() ? 0 : 1;
}
