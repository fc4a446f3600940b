// What the engines of hosts and the hub say to each other: frames cut out of a stream, the messages
// in them, and signs of life.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "tools/launch/codec.h"
#include "tools/launch/frame_reader.h"
#include "tools/launch/guests/introduction.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/hub/beat_packet.h"

namespace terrane::fuzz {
namespace {

using namespace tools;

stream::Secret secret() { return *stream::Secret::parse("00112233445566778899aabbccddeeff"); }

template <typename Message>
void check_message(std::span<const std::byte> bytes) {
  auto message = decode_message<Message>(bytes);
  if (!message) return;
  // A flag has one form that is written and several that are read.
  std::vector<std::byte> written = encode_message<Message>(*message);
  auto again = decode_message<Message>(written);
  TERRANE_CHECK(
      written.size() == bytes.size() && again && encode_message<Message>(*again) == written,
      "a message that is taken has one reading");
}

void check_introduction(std::span<const std::byte> bytes) {
  Introduction guest;
  Decoder decoder(bytes);
  decoder.take(guest);
  if (!decoder.at_end()) return;
  std::int32_t index = match_host(guest, {"alpha", "beta.example", "gamma"}, {true, false, false});
  TERRANE_CHECK(index >= -1 && index != 0 && index < 3, "a host that is free, or none");
  [[maybe_unused]] auto compared = compare_introductions(introduce_ourselves(), guest, "beta");
}

void check_frames(InputReader& reader) {
  FrameReader frames;
  std::size_t given = 0;
  std::size_t taken = 0;
  while (!reader.empty()) {
    std::span<const std::byte> piece = reader.take_part();
    given += piece.size();
    frames.add(piece);
    while (auto frame = frames.next()) {
      taken += 4 + frame->size();
      check_message<HostEvent>(*frame);
      check_message<HostCommand>(*frame);
      check_introduction(*frame);
    }
    TERRANE_CHECK(taken <= given, "frames hold what came, once");
  }
}

void check_beat(std::span<const std::byte> packet) {
  std::vector<std::byte> exact(packet.begin(), packet.end());
  auto beat = decode_beat(exact, secret());
  if (!beat) return;
  auto genuine = encode_beat(*beat, secret());
  TERRANE_CHECK(std::equal(genuine.begin(), genuine.end(), exact.begin(), exact.end()),
                "a beat that counts was sent by who knows the secret");
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  if (reader.below(8) == 0) {
    check_beat(reader.rest());
  } else {
    check_frames(reader);
  }
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  const auto add = [&all](std::span<const std::byte> payload) {
    std::vector<std::byte> stream;
    append_frame(stream, payload);
    append_frame(stream, payload);
    std::size_t half = stream.size() / 2 + 3;
    std::span<const std::byte> bytes(stream);
    all.push_back(InputWriter().byte(1).part(bytes.first(half)).part(bytes.subspan(half)).input());
  };
  HostPlan plan;
  plan.map = {{"alpha", "beta"}, {0, 1, 1}};
  plan.path = "/usr/bin/env";
  plan.argv = {"env", "-0"};
  plan.environment = {{"A", "b"}};
  plan.peers = {{"10.0.0.1", 700}, {"", 0}};
  add(encode_message<HostCommand>(command::Start{plan}));
  add(encode_message<HostCommand>(command::Card{NodeId{1}, std::vector<std::byte>(40)}));
  add(encode_message<HostCommand>(command::End{"over", 50}));
  add(encode_message<HostEvent>(event::NodeStarted{NodeId{2}, 4711}));
  add(encode_message<HostEvent>(event::NodeDied{
      {.node = NodeId{1}, .pid = 7, .cause = Death::Cause::kSentence, .sentence = "no memory"}}));
  add(encode_message<HostEvent>(event::Output{true, "text\n"}));
  add(encode_message<HostEvent>(event::HostSilent{1, 1000, true}));
  std::vector<std::byte> introduction;
  Encoder(introduction).put(introduce_ourselves());
  add(introduction);
  Beat beat{.from = 1, .to = 2, .number = 3};
  all.push_back(InputWriter().byte(0).raw(encode_beat(beat, secret())).input());
  return all;
}

}  // namespace terrane::fuzz
