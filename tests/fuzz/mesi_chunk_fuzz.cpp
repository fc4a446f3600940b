// Messages of chunks that a peer may have sent: the machine takes them or calls them malformed, and
// its invariants hold.
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "protocol/chunks/mesi_chunk.h"

namespace terrane::fuzz {
namespace {

using namespace protocol::chunks;
using protocol::WaiterId;
using wire::ChunkKind;
using wire::ChunkMessage;

constexpr NodeId kSelf{1};
constexpr std::uint32_t kNodes = 4;
constexpr std::uint32_t kNames = 6;
constexpr std::uint8_t kFromPeer = 1;
constexpr int kMostSteps = 200;

// The machine of one node, with what it has heard of chunks.
class Machine {
 public:
  Machine() : machine_({.self = kSelf, .budget_bytes = 64, .home_bytes = 64}) {
    view_.epoch = 1;
    for (std::uint32_t n = 0; n < kNodes; ++n) view_.members.push_back(NodeId{n});
    view_.slots = {{NodeId{0}, 0}, {kSelf, 0}, {kSelf, 0}};
    step(ViewChanged{&view_});
  }

  void act(InputReader& reader) {
    std::string name = "name " + std::to_string(reader.below(kNames));
    ChunkId chunk{std::uint64_t{reader.below(3)} << 52 | reader.below(3)};
    auto mode = static_cast<Mode>(reader.below(3));
    WaiterId waiter{1};
    switch (reader.below(10)) {
      case 0:
        return step(
            Create{name, reader.below(40), static_cast<Coherence>(reader.below(3)), waiter});
      case 1:
        return step(Find{name, reader.below(2) == 1, kNever, waiter});
      case 2:
        return step(Open{chunk, mode, static_cast<Wait>(reader.below(2)), 50, waiter});
      case 3:
        return step(Close{chunk, mode, Place{reader.below(3)}});
      case 4:
        return step(Drop{chunk});
      case 5:
        return step(
            Subscribe{chunk, static_cast<Policy>(reader.below(3)), reader.below(4), waiter});
      case 6:
        return step(Unsubscribe{chunk});
      case 7:
        return step(Take{chunk, static_cast<Wait>(reader.below(2)), 50, waiter});
      case 8:  // a server dies, and this node succeeds it
        if (view_.epoch > 1) return;
        view_.epoch = 2;
        view_.members.erase(view_.members.begin());
        view_.slots[0] = {kSelf, 2};
        return step(ViewChanged{&view_});
      default:
        return step(Elapsed{reader.below(100)});
    }
  }
  void receive(NodeId from, std::span<const std::byte> bytes) { step(Received{from, bytes}); }

 private:
  void step(const Event& event) {
    Effects effects;
    machine_.step(event, effects);
    machine_.check_invariants();
  }

  View view_;
  MesiChunk machine_;
};

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  Machine machine;
  for (int step = 0; step < kMostSteps && !reader.empty(); ++step) {
    if (reader.below(2) != kFromPeer) {
      machine.act(reader);
      continue;
    }
    NodeId from{reader.below(2) + 2 * reader.below(2)};
    if (from == kSelf) from = NodeId{0};
    machine.receive(from, reader.take_part());
  }
}

// Every kind of message, about chunks that are there and names that are asked for.
std::vector<Input> seeds() {
  std::vector<Input> all;
  for (std::uint32_t kind = 128; kind <= static_cast<std::uint32_t>(ChunkKind::kServing); ++kind) {
    InputWriter writer;
    for (std::uint32_t i = 0; i < 24; ++i) {
      for (std::uint32_t byte : {0u, i % kNames, i % 3, 0u, (i + kind) % 3, i % 10, 8u})
        writer.byte(byte);
      ChunkMessage message{.kind = static_cast<ChunkKind>(i % 2 ? kind : 128 + i % 18)};
      message.flags = static_cast<std::uint8_t>(1u << i % 8);
      message.epoch = 1 + i / 12;
      message.chunk = message.kind == ChunkKind::kFind ? 1 : std::uint64_t{i % 3} << 52;
      message.bytes = 8;
      message.request = 1 + i / 4;
      message.turn = 1;
      std::vector<std::byte> bytes;
      wire::put(bytes, message);
      bytes.resize(bytes.size() + (i % 3 ? 8 : 0), std::byte{'n'});
      writer.byte(kFromPeer).byte(i % 2).byte(i / 2).part(bytes);
    }
    all.push_back(writer.input());
  }
  return all;
}

}  // namespace terrane::fuzz
