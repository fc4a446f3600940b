#include "bootstrap/adoption.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "bootstrap/packet.h"

namespace terrane::bootstrap {
namespace {

JobSecret some_secret() { return make_secret().value(); }

TEST(AdoptionTest, AnOrderComesOutAsItWentIn) {
  AdoptionOrder order{.map = {{"h0", "h1"}, {0, 1, 0}}, .host = 1, .secret = some_secret()};
  EXPECT_EQ(decode_order(encode_order(order)), order);
  order.hub = "192.0.2.1 4711";
  EXPECT_EQ(decode_order(encode_order(order)), order);
}

TEST(AdoptionTest, AnOrderThatIsCutShortOrOfNoHostIsRefused) {
  AdoptionOrder order{.map = {{"h0"}, {0, 0}}, .host = 0, .secret = some_secret(), .hub = "x 1"};
  std::vector<std::byte> bytes = encode_order(order);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_order(std::span(bytes).first(size))) << size;
  }
  order.host = 1;
  EXPECT_FALSE(decode_order(encode_order(order)));
}

TEST(AdoptionTest, ASecretIsDifferentEachTimeAndSurvivesAsText) {
  JobSecret one = some_secret(), other = some_secret();
  EXPECT_FALSE(same_secret(one, other));
  EXPECT_TRUE(same_secret(one, one));
  EXPECT_FALSE(same_secret(one, std::span(one).first(15)));
  std::string text = to_text(one);
  EXPECT_EQ(secret_of(text), one);
  EXPECT_FALSE(secret_of(text + "0"));
  text[3] = 'g';
  EXPECT_FALSE(secret_of(text));
}

TEST(AdoptionTest, WhoKnocksIsHeardAndGetsWhatTheEngineHandsOut) {
  Door door = open_door().value();
  JobSecret secret = some_secret();
  std::thread engine([&] {
    base::UniqueFd visitor(::accept(door.socket.get(), nullptr, nullptr));
    PacketReader reader;
    ASSERT_EQ(reader.receive(visitor.get(), 0), PacketStatus::kDone);
    EXPECT_EQ(reader.header().kind, MessageKind::kKnock);
    EXPECT_EQ(reader.header().node, 5u);
    EXPECT_TRUE(same_secret(secret, reader.bytes()));
    const int fds[1] = {visitor.get()};
    send_packet(visitor.get(), {.kind = MessageKind::kPlace}, {}, fds, 0);
  });
  auto place = knock(door.name, NodeId{5}, secret);
  engine.join();
  EXPECT_TRUE(place) << place.error().message;
}

TEST(AdoptionTest, AnEngineThatHasGoneIsSaidToHaveGone) {
  Door door = open_door().value();
  door.socket.reset();
  auto place = knock(door.name, NodeId{0}, some_secret());
  ASSERT_FALSE(place);
  EXPECT_NE(place.error().message.find("has gone"), std::string::npos);
}

}  // namespace
}  // namespace terrane::bootstrap
