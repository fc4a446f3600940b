// Frames of the network of gateways that a neighbour may have sent: each machine takes them or
// refuses them, keeps no more than has come, and sends nothing but frames itself.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "routing/inbound.h"
#include "routing/outbound.h"
#include "routing/router.h"

namespace terrane::fuzz {
namespace {

using namespace routing;

constexpr std::uint64_t kWindow = Outbound::kLeastWindow;
constexpr std::uint32_t kWays = 2, kPorts = 4;
constexpr int kMostSteps = 300;
constexpr Address kSelf = Address::of_node(0);
constexpr Address kNeighbours[kPorts] = {Address::of_node(0), Address::of_node(1),
                                         Address::of_gateway(1), Address::of_gateway(2)};

void check_frames(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    FrameHeader header;
    TERRANE_CHECK(bytes.size() >= sizeof header, "frames are whole");
    std::memcpy(&header, bytes.data(), sizeof header);
    std::size_t size = frame_bytes(header.payload_bytes);
    TERRANE_CHECK(is_frame(header) && size <= bytes.size(), "frames are whole");
    bytes = bytes.subspan(size);
  }
}

// An end and a gateway, each among neighbours that send what they like.
class Machines : public Inbound::Receiver {
 public:
  Machines()
      : out_(kSelf, kWindow, kWays),
        in_(kSelf, kWindow),
        router_(Address::of_gateway(0), {kWindow}) {}
  ~Machines() override {
    for (std::uint32_t port = 0; port < kPorts; ++port) router_.close(port);
    TERRANE_CHECK(router_.counters().held_bytes == 0, "what waits goes with its port");
  }

  void receive(InputReader& reader) {
    std::span<const std::byte> part = reader.take_part();
    if (part.size() < sizeof(FrameHeader)) return;
    FrameHeader header;
    std::memcpy(&header, part.data(), sizeof header);
    part = part.subspan(sizeof header);
    came_ += part.size() + sizeof header;
    std::uint32_t to = reader.below(2 + kPorts);
    if (to == 0) {
      in_.frame(header, part, *this);
      for (const Inbound::Taken& taken : in_.take_taken())
        out_.tell_taken(taken.peer, taken.position);
    } else if (to == 1) {
      out_.control(reader.below(kWays), header, part);
      for (Address peer : out_.take_lost()) TERRANE_CHECK(out_.is_lost(peer), "lost for good");
    } else {
      router_.received(to - 2, header, part);
      TERRANE_CHECK(router_.held_bytes(header.from, header.to) <= kWindow, "a window of each pair");
      TERRANE_CHECK(router_.counters().held_bytes <= 2 * came_, "no more than came");
    }
  }

  void act(InputReader& reader) {
    std::uint32_t way = reader.below(kWays), port = reader.below(kPorts);
    std::vector<std::byte> bytes;
    switch (reader.below(6)) {
      case 0:
        bytes.resize(reader.below(255) * 8);
        return out_.send(Address::of_node(1 + reader.below(3)), 1, bytes, {});
      case 1:
        if (open_[way]) out_.close(way);
        if (!open_[way]) out_.open(way);
        open_[way] = !open_[way];
        return;
      case 2:
        return out_.tick();
      case 3:
        if (!connected_[port]) router_.open(port, kNeighbours[port]);
        if (connected_[port]) router_.close(port);
        connected_[port] = !connected_[port];
        return;
      case 4: {
        bool some = out_.has_output(way);
        out_.fill(way, bytes, 1 + 8 * reader.below(255));
        TERRANE_CHECK(some == !bytes.empty(), "output is there where it says so");
        return check_frames(bytes);
      }
      default: {
        bool some = router_.has_output(port);
        router_.fill(port, bytes, 1 + 8 * reader.below(255));
        TERRANE_CHECK(some == !bytes.empty(), "output is there where it says so");
        return check_frames(bytes);
      }
    }
  }

  void message(Address, std::uint16_t, Bytes message) override {
    TERRANE_CHECK(message.size() <= came_, "a message has no more bytes than came");
  }
  void bye(Address from) override { out_.gone(from); }
  void broken(Address from) override { out_.lose(from); }

 private:
  Outbound out_;
  Inbound in_;
  Router router_;
  bool open_[kWays] = {}, connected_[kPorts] = {};
  std::uint64_t came_ = 0;
};

Input frame(FrameHeader header, std::span<const std::byte> payload = {}) {
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  return InputWriter().put(header).raw(payload).input();
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  Machines machines;
  for (int step = 0; step < kMostSteps && !reader.empty(); ++step)
    reader.below(2) ? machines.receive(reader) : machines.act(reader);
}

std::vector<Input> seeds() {
  constexpr Address kOther = Address::of_node(1), kGateway = Address::of_gateway(1);
  std::vector<std::byte> payload(40, std::byte{7});
  InputWriter end, gateway;
  auto act = [](InputWriter& writer, std::initializer_list<std::uint32_t> choices) {
    writer.byte(0);
    for (std::uint32_t choice : choices) writer.byte(choice);
  };
  auto receive = [](InputWriter& writer, std::uint32_t to, const Input& bytes) {
    writer.byte(1).part(bytes).byte(to);
  };
  ReachEntry reach{.address = kOther, .hops = 1};
  act(end, {0, 0, 1});         // opens a way
  act(end, {0, 0, 0, 20, 0});  // sends
  receive(
      end, 1,
      frame({.kind = FrameKind::kReach, .from = kGateway}, std::as_bytes(std::span(&reach, 1))));
  end.byte(0);
  act(end, {0, 0, 4, 200});
  receive(end, 1, frame({.kind = FrameKind::kTaken, .from = kOther, .to = kSelf, .position = 192}));
  end.byte(0);
  receive(end, 0,
          frame({.kind = FrameKind::kData, .tag = 2, .from = kOther, .to = kSelf, .rest = 40},
                payload));
  receive(end, 0,
          frame({.kind = FrameKind::kData, .tag = 2, .from = kOther, .to = kSelf, .position = 72},
                payload));
  receive(end, 0, frame({.kind = FrameKind::kBye, .from = kOther, .to = kSelf, .position = 144}));
  act(end, {0, 0, 2});
  for (std::uint32_t port : {0, 1, 2, 3}) act(gateway, {0, port, 3});
  InputWriter links;
  links.put(Links{.gateway = kGateway, .version = 3});
  links.put(Address::of_node(2)).put(Address::of_gateway(0));
  receive(gateway, 4, frame({.kind = FrameKind::kLinks, .from = kGateway}, links.input()));
  reach.address = Address::of_node(2);
  reach.again = 1;
  receive(
      gateway, 4,
      frame({.kind = FrameKind::kReach, .from = kGateway}, std::as_bytes(std::span(&reach, 1))));
  for (std::uint64_t position : {72, 0, 144, 72})
    receive(gateway, 3,
            frame({.kind = FrameKind::kData,
                   .from = kOther,
                   .to = Address::of_node(2),
                   .position = position},
                  payload));
  receive(gateway, 3,
          frame({.kind = FrameKind::kTaken, .from = kOther, .to = kSelf, .position = 64}));
  for (std::uint32_t port : {0, 2, 3}) act(gateway, {0, port, 5, 100});
  // Two paths lead to node 2; the shorter one goes while a frame waits for it.
  InputWriter paths = gateway;
  InputWriter second, third;
  second.put(Links{.gateway = Address::of_gateway(2), .version = 1});
  second.put(Address::of_gateway(0)).put(Address::of_gateway(3));
  third.put(Links{.gateway = Address::of_gateway(3), .version = 1});
  third.put(Address::of_node(2)).put(Address::of_gateway(2));
  for (const InputWriter* each : {&second, &third})
    receive(paths, 5,
            frame({.kind = FrameKind::kLinks, .from = Address::of_gateway(2)}, each->input()));
  receive(paths, 3,
          frame({.kind = FrameKind::kData, .from = kOther, .to = Address::of_node(2)}, payload));
  act(paths, {0, 2, 3});
  act(paths, {0, 3, 5, 100});
  return {end.input(), gateway.input(), paths.input()};
}

}  // namespace terrane::fuzz
