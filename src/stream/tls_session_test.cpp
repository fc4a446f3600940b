#include "stream/tls_session.h"

#include "base/prng.h"
#include "stream/tls_peers.h"

namespace terrane::stream {
namespace {

Bytes random_bytes(std::size_t size, std::uint64_t seed) {
  base::Prng random(seed);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

bool holds(const Bytes& all, std::span<const std::byte> part) {
  return std::search(all.begin(), all.end(), part.begin(), part.end()) != all.end();
}

TEST(TlsSessionTest, SidesWithOneKeyOpenAndTalk) {
  TlsPair pair;
  pair.shake();
  ASSERT_TRUE(pair.open()) << pair.client.complaint() << pair.server.complaint();
  Bytes there = bytes_of("there"), back = bytes_of("and back");
  EXPECT_EQ(pair.client.write(there), there.size());
  EXPECT_EQ(give(pair.server, take_out(pair.client)), there);
  EXPECT_EQ(pair.server.write(back), back.size());
  EXPECT_EQ(give(pair.client, take_out(pair.server)), back);
}

TEST(TlsSessionTest, TheClientSpeaksFirstAndOneRoundTripOpensIt) {
  TlsSession client(key_of(kSecret), TlsRole::kClient), server(key_of(kSecret), TlsRole::kServer);
  EXPECT_TRUE(server.out().empty());
  give(server, take_out(client));
  EXPECT_EQ(server.state(), TlsState::kGoingOn);
  give(client, take_out(server));
  EXPECT_EQ(client.state(), TlsState::kOpen);
  Bytes hello = bytes_of("with the proof");
  client.write(hello);
  EXPECT_EQ(give(server, take_out(client)), hello);
  EXPECT_EQ(server.state(), TlsState::kOpen);
  EXPECT_TRUE(server.out().empty()) << "no tickets";
}

TEST(TlsSessionTest, NothingIsWrittenBeforeItIsOpen) {
  TlsPair pair;
  Bytes early = bytes_of("early");
  EXPECT_EQ(pair.client.write(early), 0u);
  give(pair.server, take_out(pair.client));
  EXPECT_EQ(pair.server.write(early), 0u);
}

TEST(TlsSessionTest, AClientWithoutTheKeyIsRefused) {
  TlsPair pair(kOther, kSecret);
  pair.shake();
  EXPECT_EQ(pair.server.state(), TlsState::kRefused);
  EXPECT_EQ(pair.server.complaint(), "it does not know the secret of this job");
  EXPECT_EQ(pair.client.state(), TlsState::kRefused);
  EXPECT_EQ(pair.client.complaint(), "it refused this side, as one without the job's secret");
  EXPECT_EQ(pair.server.write(bytes_of("x")), 0u);
}

TEST(TlsSessionTest, AnotherPurposeIsAnotherKey) {
  TlsPair pair(key_of(kSecret, "one"), key_of(kSecret, "two"));
  pair.shake();
  EXPECT_EQ(pair.server.state(), TlsState::kRefused);
  EXPECT_EQ(pair.client.state(), TlsState::kRefused);
}

TEST(TlsSessionTest, BytesMayComeOneByOne) {
  TlsPair pair;
  pair.shake(1);
  ASSERT_TRUE(pair.open());
  Bytes text = random_bytes(20'000, 1);
  pair.client.write(text);
  EXPECT_EQ(give(pair.server, take_out(pair.client), 1), text);
}

TEST(TlsSessionTest, HalfARecordGivesNothingYet) {
  TlsPair pair;
  pair.shake();
  Bytes text = random_bytes(5'000, 2);
  pair.client.write(text);
  Bytes wire = take_out(pair.client);
  std::span all(wire);
  EXPECT_TRUE(give(pair.server, all.first(2'500)).empty());
  EXPECT_EQ(pair.server.state(), TlsState::kOpen);
  EXPECT_EQ(give(pair.server, all.subspan(2'500)), text);
}

TEST(TlsSessionTest, AReaderWithLittleRoomGetsAllInOrder) {
  TlsPair pair;
  pair.shake();
  Bytes text = random_bytes(50'000, 3), got, room(777);
  pair.client.write(text);
  Bytes wire = take_out(pair.client);
  std::span<const std::byte> rest(wire);
  while (got.size() < text.size()) {
    auto [taken, plain] = pair.server.take(rest, room);
    ASSERT_GT(plain, 0u);
    rest = rest.subspan(taken);
    got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(plain));
  }
  EXPECT_EQ(got, text);
  EXPECT_TRUE(rest.empty());
}

TEST(TlsSessionTest, AMillionBytesEachWayInterleaved) {
  TlsPair pair(key_of(kSecret, "test", 100'000), key_of(kSecret, "test", 70'000));  // new keys, too
  pair.shake();
  const Bytes there = random_bytes(1'000'000, 4), back = random_bytes(1'000'000, 5);
  Bytes at_server, at_client;
  std::size_t to_server = 0, to_client = 0;
  base::Prng random(6);
  const auto some = [&](const Bytes& all, std::size_t from) {
    return std::span(all).subspan(from).first(
        std::min<std::size_t>(all.size() - from, 1 + random.below(60'000)));
  };
  const auto append = [](Bytes& all, const Bytes& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  while (at_server.size() < there.size() || at_client.size() < back.size()) {
    to_server += pair.client.write(some(there, to_server));
    to_client += pair.server.write(some(back, to_client));
    append(at_server, give(pair.server, take_out(pair.client), 1 + random.below(30'000)));
    append(at_client, give(pair.client, take_out(pair.server), 1 + random.below(30'000)));
    ASSERT_TRUE(pair.open()) << pair.client.complaint() << pair.server.complaint();
  }
  EXPECT_EQ(at_server, there);
  EXPECT_EQ(at_client, back);
}

TEST(TlsSessionTest, ASenderTakesANewKeyAfterSoManyBytes) {
  TlsPair pair(key_of(kSecret, "test", 250), key_of(kSecret));
  pair.shake();
  for (std::size_t expected : {122u, 122u, 122u, 122u + 27u, 122u}) {  // 27: the word of it
    Bytes text = random_bytes(100, 9);
    pair.client.write(text);
    EXPECT_EQ(pair.client.out().size(), expected);
    EXPECT_EQ(give(pair.server, take_out(pair.client)), text);
  }
}

TEST(TlsSessionTest, WhatWaitsToBeSentIsBounded) {
  TlsPair pair;
  pair.shake();
  ASSERT_TRUE(pair.open());
  Bytes much = random_bytes(1'000'000, 7), got;
  std::size_t written = pair.client.write(much);
  EXPECT_LT(written, much.size());
  EXPECT_LT(pair.client.out().size(), TlsSession::kOutBytes + 17'000);
  EXPECT_EQ(pair.client.write(much), 0u);
  while (got.size() < much.size()) {  // sent in pieces
    Bytes some(pair.client.out().begin(), pair.client.out().end());
    some.resize(std::min<std::size_t>(some.size(), 100'000));
    pair.client.sent(some.size());
    Bytes plain = give(pair.server, some);
    got.insert(got.end(), plain.begin(), plain.end());
    written += pair.client.write(std::span(much).subspan(written));
  }
  EXPECT_EQ(got, much);
}

TEST(TlsSessionTest, AClosedSessionGivesWhatWasSentBefore) {
  TlsPair pair;
  pair.shake();
  Bytes last = bytes_of("the last words");
  pair.client.write(last);
  pair.client.close();
  EXPECT_EQ(pair.client.write(last), 0u);
  EXPECT_EQ(give(pair.server, take_out(pair.client)), last);
  EXPECT_EQ(pair.server.state(), TlsState::kClosed);
  EXPECT_EQ(pair.server.take(last, last).wire, 0u);
  EXPECT_EQ(pair.server.write(last), 0u);
  pair.server.close();
  give(pair.client, take_out(pair.server));
  EXPECT_EQ(pair.client.state(), TlsState::kClosed);
}

TEST(TlsSessionTest, AStreamThatEndsEarlyIsNotClosed) {
  TlsPair pair;
  pair.shake();
  pair.client.write(bytes_of("words"));
  Bytes wire = take_out(pair.client);
  wire.pop_back();
  EXPECT_TRUE(give(pair.server, wire).empty());
  EXPECT_EQ(pair.server.state(), TlsState::kOpen);
}

TEST(TlsSessionTest, AChangedBitAfterTheHandshakeIsRefused) {
  for (std::size_t at : {3u, 4u, 5u, 20u, 104u, 120u}) {
    TlsPair pair;
    pair.shake();
    pair.client.write(random_bytes(100, 8));
    Bytes wire = take_out(pair.client);
    ASSERT_EQ(wire.size(), 122u);  // a header of 5, the text, its type, a tag of 16
    wire[at] ^= std::byte{1};
    wire.resize(400);  // where a changed length asks for more
    EXPECT_TRUE(give(pair.server, wire).empty());
    EXPECT_EQ(pair.server.state(), TlsState::kRefused) << at;
    EXPECT_FALSE(pair.server.complaint().empty());
  }
}

TEST(TlsSessionTest, ARecordThatComesTwiceIsRefused) {
  TlsPair pair;
  pair.shake();
  Bytes text = bytes_of("pay once");
  pair.client.write(text);
  Bytes wire = take_out(pair.client);
  EXPECT_EQ(give(pair.server, wire), text);
  EXPECT_TRUE(give(pair.server, wire).empty());
  EXPECT_EQ(pair.server.complaint(), "what it sent was changed on the way");
}

// The version in a record's header counts for nothing (RFC 8446, section 5.1).
bool counts(std::size_t byte) { return byte != 1 && byte != 2; }

TEST(TlsSessionTest, AnyChangedBitFromTheClientOpensNothing) {
  TlsPair good;
  good.shake();
  ASSERT_TRUE(good.open());
  for (std::size_t bit = 0; bit < 8 * good.to_server.size(); bit += 5) {
    TlsPair pair;
    Bytes hello = take_out(pair.client);
    std::size_t at = bit / 8;
    const std::byte change = std::byte{1} << bit % 8;
    bool in_hello = at < hello.size();
    if (in_hello) hello[at] ^= change;
    give(pair.server, hello);
    give(pair.client, take_out(pair.server));
    Bytes proof = take_out(pair.client);
    if (!in_hello) at -= hello.size();
    if (!in_hello && at < proof.size()) proof[at] ^= change;
    give(pair.server, proof);
    if (!counts(at)) continue;
    EXPECT_NE(pair.server.state(), TlsState::kOpen) << "bit " << bit;
  }
}

TEST(TlsSessionTest, AnyChangedBitFromTheServerOpensNothing) {
  TlsPair good;
  good.shake();
  const std::size_t first = 5 + std::to_integer<std::size_t>(good.to_client[4]);
  for (std::size_t bit = 0; bit < 8 * good.to_client.size(); bit += 3) {
    TlsPair pair;
    give(pair.server, take_out(pair.client));
    Bytes answer = take_out(pair.server);
    if (bit / 8 >= answer.size()) continue;
    answer[bit / 8] ^= std::byte{1} << bit % 8;
    give(pair.client, answer);
    std::size_t at = bit / 8 < first ? bit / 8 : bit / 8 - first;
    if (!counts(at)) continue;
    EXPECT_NE(pair.client.state(), TlsState::kOpen) << "bit " << bit;
  }
}

TEST(TlsSessionTest, ARecordedHandshakeOpensNothing) {
  TlsPair recorded;
  recorded.shake();
  recorded.client.write(bytes_of("do it"));
  Bytes wire = take_out(recorded.client);
  ASSERT_TRUE(recorded.open());
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  EXPECT_TRUE(give(server, recorded.to_server).empty());
  EXPECT_TRUE(give(server, wire).empty());
  EXPECT_EQ(server.state(), TlsState::kRefused);
  TlsSession client(key_of(kSecret), TlsRole::kClient);
  give(client, recorded.to_client);
  EXPECT_EQ(client.state(), TlsState::kRefused);
}

TEST(TlsSessionTest, AClientsOwnBytesSentBackOpenNothing) {
  TlsSession client(key_of(kSecret), TlsRole::kClient);
  give(client, take_out(client));
  EXPECT_EQ(client.state(), TlsState::kRefused);
}

TEST(TlsSessionTest, PlainBytesAreRefused) {
  for (const char* text :
       {"GET / HTTP/1.0\r\n\r\n", "TERRANE\n\1\0l", "\x16\x03\x01\xff\xff\x01"}) {
    TlsSession server(key_of(kSecret), TlsRole::kServer);
    Bytes wire = bytes_of(text);
    wire.resize(6'000);
    EXPECT_TRUE(give(server, wire).empty());
    EXPECT_EQ(server.state(), TlsState::kRefused) << text;
    EXPECT_FALSE(server.complaint().empty());
    TlsSession client(key_of(kSecret), TlsRole::kClient);
    give(client, wire);
    EXPECT_EQ(client.state(), TlsState::kRefused) << text;
  }
}

TEST(TlsSessionTest, AHandshakeThatNeverEndsIsRefused) {
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  // Records of one byte, of a first message that is said to have 60,000 bytes.
  Bytes wire = {std::byte{0x16}, std::byte{3}, std::byte{1},    std::byte{0},   std::byte{4},
                std::byte{1},    std::byte{0}, std::byte{0xea}, std::byte{0x60}};
  for (int i = 0; i < 2'000; ++i) {
    for (int byte : {0x16, 3, 3, 0, 1, i % 256}) wire.push_back(static_cast<std::byte>(byte));
  }
  give(server, wire);
  EXPECT_EQ(server.state(), TlsState::kRefused);
  EXPECT_NE(server.complaint().find("4096"), std::string::npos) << server.complaint();
}

TEST(TlsSessionTest, TheWireShowsNeitherTextNorSecret) {
  TlsPair pair;
  pair.shake();
  Bytes text = bytes_of("nobody on the way may read these words");
  pair.client.write(text);
  Bytes all = take_out(pair.client);
  all.insert(all.end(), pair.to_server.begin(), pair.to_server.end());
  all.insert(all.end(), pair.to_client.begin(), pair.to_client.end());
  EXPECT_FALSE(holds(all, std::span(text).first(8)));
  Bytes secret = {std::byte{0x00}, std::byte{0x11}, std::byte{0x22}, std::byte{0x33}};
  EXPECT_FALSE(holds(all, secret));
  EXPECT_FALSE(holds(all, bytes_of("00112233")));
  Proof key = kSecret.prove("tls", {bytes_of("test")});
  EXPECT_FALSE(holds(all, std::span(key).first(6)));
}

TEST(TlsSessionTest, TwoConnectionsOfOneKeyHaveDifferentBytes) {
  Bytes wires[2];
  for (Bytes& wire : wires) {
    TlsPair pair;
    pair.shake();
    pair.client.write(bytes_of("the same"));
    wire = take_out(pair.client);
  }
  EXPECT_NE(wires[0], wires[1]);
}

}  // namespace
}  // namespace terrane::stream
