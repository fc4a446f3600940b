#include "tools/launch/host/host_messages.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "tools/launch/codec.h"
#include "tools/launch/frame_reader.h"
#include "tools/launch/guests/introduction.h"

namespace terrane::tools {
namespace {

HostPlan sample_plan() {
  HostPlan plan;
  plan.map = {{"alpha", "beta"}, {0, 1, 1}};
  plan.host = 1;
  plan.path = "/bin/echo";
  plan.argv = {"echo", "", "two words"};
  plan.environment = {{"A", "b=c"}, {"EMPTY", ""}};
  plan.folder = "/tmp";
  plan.job_name = "1.2";
  plan.tag_output = true;
  plan.hold = true;
  plan.randomize = true;
  plan.verbose = true;
  plan.preload = Preload::kAlways;
  plan.heartbeat_ms = 1000;
  plan.death_after_ms = 3000;
  plan.peers = {{"", 7}, {"10.0.0.2", 65535}};
  return plan;
}

Death sample_death() {
  return {.node = NodeId{2},
          .pid = 77,
          .cause = Death::Cause::kSignal,
          .number = 9,
          .core_dumped = true,
          .sentence = "why"};
}

TEST(HostMessagesTest, APlanArrivesAsItWasSent) {
  auto back =
      decode_message<HostCommand>(encode_message<HostCommand>(command::Start{sample_plan()}));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(std::get<command::Start>(*back).plan, sample_plan());
}

TEST(HostMessagesTest, ADeathArrivesAsItWasSent) {
  auto back = decode_message<HostEvent>(encode_message<HostEvent>(event::NodeDied{sample_death()}));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(std::get<event::NodeDied>(*back).death, sample_death());
}

template <typename Variant, std::size_t... Index>
void every_kind_survives(std::index_sequence<Index...>) {
  auto check = []<std::size_t At>() {
    Variant message{std::in_place_index<At>};
    auto back = decode_message<Variant>(encode_message(message));
    ASSERT_TRUE(back.has_value()) << At;
    EXPECT_EQ(back->index(), At);
  };
  (check.template operator()<Index>(), ...);
}

TEST(HostMessagesTest, EveryKindIsItselfAfterwards) {
  every_kind_survives<HostCommand>(std::make_index_sequence<std::variant_size_v<HostCommand>>());
  every_kind_survives<HostEvent>(std::make_index_sequence<std::variant_size_v<HostEvent>>());
}

TEST(HostMessagesTest, EveryTruncationAndEveryExtraByteIsRefused) {
  auto bytes = encode_message<HostCommand>(command::Start{sample_plan()});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_message<HostCommand>(std::span(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_message<HostCommand>(bytes));
}

TEST(HostMessagesTest, ACauseOutsideOfTheListIsRefused) {
  auto bytes = encode_message<HostEvent>(event::NodeDied{sample_death()});
  constexpr std::size_t kCauseAt = 4 + 4 + 4;  // after kind, node and process
  bytes[kCauseAt] = std::byte{200};
  EXPECT_FALSE(decode_message<HostEvent>(bytes));
}

TEST(HostMessagesTest, DamagedBytesAreReadOrRefusedWithinTheirLength) {
  base::Prng random(3);
  auto sample = encode_message<HostCommand>(command::Start{sample_plan()});
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = sample;
    for (int i = 0; i < 4; ++i) {
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::byte>(random.below(256));
    }
    decode_message<HostCommand>(bytes);
    decode_message<HostEvent>(bytes);
    Introduction introduction;
    Decoder(bytes).take(introduction);
  }
}

TEST(FrameReaderTest, FramesComeOutWholeHoweverTheyCameIn) {
  std::vector<std::byte> stream;
  std::vector<std::vector<std::byte>> frames{{}, {std::byte{1}}, std::vector<std::byte>(5000)};
  for (const auto& frame : frames) append_frame(stream, frame);
  for (std::size_t step : {1u, 3u, 4096u, 100'000u}) {
    FrameReader reader;
    std::size_t count = 0;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.add(std::span(stream).subspan(at, std::min(step, stream.size() - at)));
      while (auto frame = reader.next()) {
        ASSERT_LT(count, frames.size());
        EXPECT_EQ(std::vector<std::byte>(frame->begin(), frame->end()), frames[count++]);
      }
    }
    EXPECT_EQ(count, frames.size()) << step;
  }
}

TEST(FrameReaderTest, AFrameOverTheLimitEndsTheStreamBeforeItIsRead) {
  FrameReader reader;
  std::uint32_t size = kMaxFrameBytes + 1;
  reader.add(std::as_bytes(std::span(&size, 1)));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.malformed());
}

}  // namespace
}  // namespace terrane::tools
