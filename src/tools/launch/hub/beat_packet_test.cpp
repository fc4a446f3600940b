#include "tools/launch/hub/beat_packet.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

const stream::Secret kSecret = *stream::Secret::parse("00112233445566778899aabbccddeeff");
const stream::Secret kOther = *stream::Secret::parse("ffeeddccbbaa99887766554433221100");

TEST(BeatPacketTest, OnlyWhoKnowsTheSecretSpeaks) {
  Beat beat{.from = 1, .to = 2, .number = 99};
  auto packet = encode_beat(beat, kSecret);
  EXPECT_EQ(decode_beat(packet, kSecret), beat);
  EXPECT_FALSE(decode_beat(packet, kOther));
}

TEST(BeatPacketTest, EveryChangedByteIsNoticed) {
  auto packet = encode_beat({.from = 1, .to = 2, .number = 99}, kSecret);
  for (std::size_t at = 0; at < packet.size(); ++at) {
    auto changed = packet;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(decode_beat(changed, kSecret)) << at;
  }
}

TEST(BeatPacketTest, AnotherLengthIsNoBeat) {
  auto packet = encode_beat({}, kSecret);
  EXPECT_FALSE(decode_beat(std::span(packet).first(kBeatBytes - 1), kSecret));
  EXPECT_FALSE(decode_beat({}, kSecret));
}

}  // namespace
}  // namespace terrane::tools
