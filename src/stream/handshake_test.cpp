#include "stream/handshake.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace terrane::stream {
namespace {

const Secret kSecret = *Secret::parse("00112233445566778899aabbccddeeff");
const Secret kOther = *Secret::parse("00112233445566778899aabbccddeefe");

Nonce nonce(int n) {
  Nonce bytes{};
  bytes[0] = static_cast<std::byte>(n);
  return bytes;
}

std::vector<std::byte> take_out(Handshake& side) { return std::exchange(side.out, {}); }

TEST(SecretTest, TextAndBack) {
  EXPECT_EQ(kSecret.hex(), "00112233445566778899aabbccddeeff");
  auto random = Secret::random();
  ASSERT_TRUE(random.ok());
  EXPECT_TRUE(Secret::parse(random.value().hex()).has_value());
  for (const char* bad :
       {"", "00", "00112233445566778899aabbccddeefg", "00112233445566778899aabbccddeeff0"}) {
    EXPECT_FALSE(Secret::parse(bad)) << bad;
  }
}

TEST(HandshakeTest, BothSidesThatKnowTheSecretProveIt) {
  Handshake hub = Handshake::of_hub(kSecret, nonce(1)),
            host = Handshake::of_host(kSecret, nonce(2));
  EXPECT_EQ(host.take(take_out(hub)), HandshakeState::kGoingOn);
  EXPECT_EQ(hub.take(take_out(host)), HandshakeState::kProven);
  EXPECT_EQ(host.take(take_out(hub)), HandshakeState::kProven);
}

TEST(HandshakeTest, BytesMayComeOneByOne) {
  Handshake hub = Handshake::of_hub(kSecret, nonce(1)),
            host = Handshake::of_host(kSecret, nonce(2));
  for (std::byte byte : take_out(hub)) host.take({&byte, 1});
  for (std::byte byte : take_out(host)) hub.take({&byte, 1});
  EXPECT_EQ(hub.state(), HandshakeState::kProven);
}

TEST(HandshakeTest, AnotherSecretIsRefusedAndTheHubProvesNothing) {
  Handshake hub = Handshake::of_hub(kSecret, nonce(1)), host = Handshake::of_host(kOther, nonce(2));
  host.take(take_out(hub));
  EXPECT_EQ(hub.take(take_out(host)), HandshakeState::kRefused);
  EXPECT_TRUE(hub.out.empty());
}

TEST(HandshakeTest, AHubWithoutTheSecretIsRefused) {
  Handshake host = Handshake::of_host(kSecret, nonce(2)), hub = Handshake::of_hub(kOther, nonce(1));
  host.take(take_out(hub));
  std::vector<std::byte> guess(sizeof(Proof));
  EXPECT_EQ(host.take(guess), HandshakeState::kRefused);
}

TEST(HandshakeTest, ARecordedAnswerIsWorthlessToAnotherGreeting) {
  Handshake hub = Handshake::of_hub(kSecret, nonce(1)),
            host = Handshake::of_host(kSecret, nonce(2));
  host.take(take_out(hub));
  auto recorded = take_out(host);
  Handshake again = Handshake::of_hub(kSecret, nonce(3));
  EXPECT_EQ(again.take(recorded), HandshakeState::kRefused);
}

TEST(HandshakeTest, AHostsProofSentBackProvesNothing) {
  Handshake hub = Handshake::of_hub(kSecret, nonce(1)),
            host = Handshake::of_host(kSecret, nonce(2));
  host.take(take_out(hub));
  auto answer = take_out(host);
  EXPECT_EQ(host.take(std::span(answer).subspan(kGreetingBytes)), HandshakeState::kRefused);
}

TEST(HandshakeTest, AnotherVersionIsNamed) {
  Handshake hub = Handshake::of_hub(kSecret, nonce(1)),
            host = Handshake::of_host(kSecret, nonce(2));
  auto greeting = take_out(hub);
  greeting[8] = std::byte{77};
  EXPECT_EQ(host.take(greeting), HandshakeState::kRefused);
  EXPECT_NE(host.complaint().find("version 77"), std::string::npos);
}

TEST(HandshakeTest, TenThousandStrangersAreAllRefused) {
  base::Prng random(11);
  for (int i = 0; i < 10'000; ++i) {
    Handshake hub = Handshake::of_hub(kSecret, nonce(i));
    std::vector<std::byte> answer(kAnswerBytes);
    if (i % 2 == 0) {  // of the right form
      Handshake stranger = Handshake::of_host(kOther, nonce(i + 1));
      stranger.take(hub.out);
      answer = stranger.out;
    }
    for (int j = 0; j < 1 + i % 5; ++j) {
      answer[random.below(kAnswerBytes)] = static_cast<std::byte>(random.below(256));
    }
    ASSERT_EQ(hub.take(answer), HandshakeState::kRefused);
  }
}

}  // namespace
}  // namespace terrane::stream
