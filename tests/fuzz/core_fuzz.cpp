// Messages of the protocol that a peer may have sent: the core takes them or calls them malformed,
// and goes on serving this node and the others.
#include <deque>
#include <memory>

#include "base/prng.h"
#include "fuzz/core_host.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_writer.h"

namespace terrane::fuzz {
namespace {

constexpr std::uint8_t kFromPeer = 1;
constexpr int kMostSteps = 400;

// A job of honest nodes in one order of delivery, which writes down what node `self` does and
// receives.
class Recorder {
 public:
  Recorder(std::uint32_t self, std::uint32_t nodes, std::uint64_t seed)
      : self_(self), nodes_(nodes), prng_(seed) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      hosts_.push_back(
          std::make_unique<CoreHost>(NodeId{n}, nodes, [this, n](NodeId to, auto bytes) {
            messages_.push_back({NodeId{n}, to, {bytes.begin(), bytes.end()}});
          }));
    }
    writer_.byte(nodes - 2).byte(self);
  }

  Input record() {
    for (int step = 0; step < 300; ++step) {
      act(prng_.below(nodes_));
      while (!messages_.empty() && prng_.chance(70)) deliver();
    }
    while (!messages_.empty()) deliver();
    return writer_.input();
  }

 private:
  struct Message {
    NodeId from, to;
    std::vector<std::byte> bytes;
  };

  void act(std::uint32_t node) {
    std::byte decisions[10];
    for (std::byte& byte : decisions) byte = static_cast<std::byte>(prng_.below(256));
    InputReader reader(decisions);
    hosts_[node]->act(reader);
    if (node == self_) {
      writer_.byte(0).raw(std::span(decisions).first(sizeof decisions - reader.rest().size()));
    }
  }
  void deliver() {
    Message message = std::move(messages_.front());
    messages_.pop_front();
    hosts_[message.to.value]->receive(message.from, message.bytes);
    if (message.to.value == self_) {
      writer_.byte(kFromPeer).byte(message.from.value).part(message.bytes);
    }
  }

  std::uint32_t self_, nodes_;
  base::Prng prng_;
  std::vector<std::unique_ptr<CoreHost>> hosts_;
  std::deque<Message> messages_;
  InputWriter writer_;
};

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  std::uint32_t nodes = 2 + reader.below(4);
  NodeId self{reader.below(nodes)};
  CoreHost host(self, nodes, [](NodeId, std::span<const std::byte>) {});
  for (int step = 0; step < kMostSteps && !reader.empty(); ++step) {
    if (reader.below(2) != kFromPeer) {
      host.act(reader);
      continue;
    }
    NodeId from{reader.below(nodes)};
    std::span<const std::byte> message = reader.take_part();
    if (from != self && !host.closed(from)) host.receive(from, message);
  }
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::uint32_t nodes = 2 + seed % 4;
    all.push_back(Recorder(seed % nodes, nodes, seed).record());
  }
  return all;
}

}  // namespace terrane::fuzz
