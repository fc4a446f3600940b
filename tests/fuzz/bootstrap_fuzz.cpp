// What the launcher reads from nodes that send what they like, and the map that a node reads.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "bootstrap/job_map.h"
#include "bootstrap/node_snapshot.h"
#include "bootstrap/relay.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"

namespace terrane::fuzz {
namespace {

using namespace bootstrap;

constexpr std::uint32_t kNodes = 2;
constexpr int kMostPackets = 64;

base::UniqueFd open_null() { return base::UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

// A node made of bare sockets.
struct BareNode {
  base::UniqueFd place, channel, lifeline;

  void claim() {
    int pair[2];
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
        ::pipe2(ends, O_CLOEXEC) != 0) {
      std::abort();  // the machine is out of descriptors: the target leaks
    }
    channel.reset(pair[0]);
    lifeline.reset(ends[0]);
    base::UniqueFd theirs(pair[1]);
    base::UniqueFd write_end(ends[1]);
    const int fds[2] = {theirs.get(), write_end.get()};
    send_packet(place.get(), {.kind = MessageKind::kClaim}, {}, fds, MSG_DONTWAIT);
  }
};

// A packet with a header of its own making, raw bytes, or an ordinary header with wrong numbers.
void send_one(InputReader& reader, int socket) {
  base::UniqueFd null = open_null();
  std::vector<int> fds(reader.below(4), null.get());
  std::span<const std::byte> part = reader.take_part();
  if (part.size() < sizeof(MessageHeader)) {
    ::send(socket, part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  MessageHeader header;
  std::memcpy(&header, part.data(), sizeof header);
  send_packet(socket, header, part.subspan(sizeof header), fds, MSG_DONTWAIT);
}

void check_map(std::span<const std::byte> bytes) {
  std::vector<std::byte> exact(bytes.begin(), bytes.end());
  auto map = decode_map(exact);
  if (!map) return;
  TERRANE_CHECK(encode_map(*map) == exact, "a map that is taken has one reading");
  for (std::uint32_t host : map->host_of) {
    TERRANE_CHECK(host < map->names.size(), "every node is on a host");
  }
}

void check_snapshot(std::span<const std::byte> bytes) {
  std::vector<std::byte> exact(bytes.begin(), bytes.end());
  auto snapshot = decode_snapshot(exact);
  if (!snapshot) return;
  TERRANE_CHECK(encode_snapshot(*snapshot) == exact, "a snapshot that is taken has one reading");
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  auto relay = Relay::create(map_of_one_host(kNodes, "alpha"), 0).value();
  BareNode nodes[kNodes];
  std::vector<Relay::Change> changes;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    nodes[i].place = relay->open_place(NodeId{i}).value();
  }
  for (int packet = 0; packet < kMostPackets && !reader.empty(); ++packet) {
    std::uint32_t node = reader.below(kNodes);
    switch (reader.below(7)) {
      case 0:
        nodes[node].claim();
        break;
      case 1:
        send_one(reader, nodes[node].place.get());
        break;
      case 2:
        relay->set_gone(NodeId{node}, changes);
        break;
      case 3:
        relay->fail_exchange("it cannot end");
        check_map(reader.take_part());
        break;
      case 6:
        relay->ask();
        relay->take_answers();
        check_snapshot(reader.take_part());
        break;
      default:
        if (nodes[node].channel) send_one(reader, nodes[node].channel.get());
    }
    changes.clear();
    relay->serve(changes);
    if (relay->all_wait()) relay->send_cards();
  }
}

std::vector<Input> seeds() {
  const auto card = [](InputWriter& writer, std::uint32_t node, std::size_t bytes) {
    MessageHeader header{.kind = MessageKind::kCard, .node = node, .total_bytes = bytes};
    std::vector<std::byte> packet(sizeof header + bytes, std::byte{9});
    std::memcpy(packet.data(), &header, sizeof header);
    writer.byte(node).byte(4).byte(0).part(packet);
  };
  InputWriter exchange;
  exchange.byte(0).byte(0).byte(1).byte(0);
  card(exchange, 0, 40);
  card(exchange, 1, 0);
  MessageHeader leaving{.kind = MessageKind::kLeaving};
  exchange.byte(0).byte(4).byte(0).part(std::as_bytes(std::span(&leaving, 1)));

  InputWriter failing;
  failing.byte(0).byte(0);
  card(failing, 0, 8);
  failing.byte(1).byte(2).byte(0).byte(3).part(encode_map({{"alpha", "beta"}, {0, 1, 1}}));
  MessageHeader fail{.kind = MessageKind::kFail, .code = 3};
  failing.byte(0).byte(4).byte(0).part(std::as_bytes(std::span(&fail, 1)));
  MessageHeader claim{.kind = MessageKind::kClaim};
  failing.byte(1).byte(1).byte(2).part(std::as_bytes(std::span(&claim, 1)));
  return {exchange.input(), failing.input()};
}

}  // namespace terrane::fuzz
