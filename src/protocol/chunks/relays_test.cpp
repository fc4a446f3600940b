// What crosses a link, and the order of relayed messages.
#include "protocol/chunks/relays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "protocol/chunks/chunk_job.h"

namespace terrane::protocol {
namespace chunks {
namespace {

constexpr std::uint32_t kTwo[] = {0, 1, 0, 1, 1, 1};

class RelaysTest : public testing::Test {
 protected:
  explicit RelaysTest(std::uint64_t relay_bytes = 1 << 20)
      : job(6, 2, 1 << 20, kTwo, relay_bytes) {}
  // How many of the messages under way go to the other cluster, and how many of these are versions.
  struct Crossing {
    int messages = 0;
    int with_data = 0;
  };
  Crossing crossing() const {
    Crossing found;
    for (const auto& message : job.messages) {
      if (kTwo[message.from.value] == kTwo[message.to.value]) continue;
      ++found.messages;
      found.with_data += kind_of(message) == wire::ChunkKind::kRelay ||
                         kind_of(message) == wire::ChunkKind::kUpdate;
    }
    return found;
  }
  static wire::ChunkKind kind_of(const ChunkJob::Message& message) {
    return static_cast<wire::ChunkKind>(message.bytes[0]);
  }
  // The version that the node takes; 0: there is none.
  std::uint64_t take(std::uint32_t node, ChunkId chunk) {
    job.resumed.erase(96);
    job.step(node, Take{chunk, Wait::kTry, kNever, WaiterId{96}});
    const Resume& taken = job.resumed.at(96);
    if (taken.status != Status::kOk) return 0;
    job.step(node, Close{chunk, Mode::kRead, taken.place});
    return taken.version;
  }
  // A chunk whose home is node 0. Node 1 is a server, too.
  ChunkId create(char first = 'a') {
    for (char name = first; name <= 'z'; ++name) {
      ChunkId chunk = job.create({0, 2, 3, 4, 5}, std::string(1, name), Coherence::kStream);
      if (chunk.value >> 52 == 0) return chunk;
    }
    return kNoChunk;
  }

  ChunkJob job;
};

// A relay that has room for two versions.
class FullRelayTest : public RelaysTest {
 protected:
  static constexpr std::uint64_t kRoom = 2 * ChunkJob::kBytes;

  FullRelayTest() : RelaysTest(kRoom) {}
  std::uint64_t kept() const { return job.machine(1).relays().kept_bytes(); }
};

TEST_F(RelaysTest, AVersionCrossesTheLinkOnceForAllSubscribersOfTheOtherCluster) {
  ChunkId chunk = create();
  for (std::uint32_t node : {2, 3, 4, 5}) job.subscribe(node, chunk, Policy::kBlock, 2);
  for (std::uint64_t version = 1; version <= 5; ++version) {
    job.open(0, chunk, Mode::kWrite, 98);
    job.deliver_all();
    job.close(0, chunk, Mode::kWrite, 98);
    Crossing crossed = crossing();
    EXPECT_EQ(crossed.messages, 1);
    EXPECT_EQ(crossed.with_data, 1);
    job.deliver_all();
    for (std::uint32_t node : {2, 3, 4, 5}) EXPECT_EQ(take(node, chunk), version) << node;
    job.deliver_all();
  }
  EXPECT_EQ(job.malformed, 0);
}

// Node 4 takes late: its version waits at the relay until the home sends it there without bytes.
TEST_F(RelaysTest, ASubscriberThatHasNoRoomGetsItsVersionFromTheRelay) {
  ChunkId chunk = create();
  for (std::uint32_t node : {4, 5}) job.subscribe(node, chunk, Policy::kBlock, 1);
  for (int with_data : {1, 1, 0}) {
    job.write(0, chunk);
    EXPECT_EQ(crossing().with_data, with_data);
    job.deliver_all();
  }
  constexpr std::size_t kWhole =
      2 * sizeof(wire::ChunkMessage) + sizeof(wire::RelayEntry) + ChunkJob::kBytes;
  int with_data = 0;
  for (std::uint32_t node : {5, 4}) {
    EXPECT_EQ(take(node, chunk), 1u);
    while (!job.messages.empty()) {  // the credit, and the versions that it allows
      for (const auto& message : job.messages)
        with_data += kind_of(message) == wire::ChunkKind::kRelay && message.bytes.size() == kWhole;
      std::deque<ChunkJob::Message> all;
      all.swap(job.messages);
      for (const auto& one : all) job.step(one.to.value, Received{one.from, one.bytes});
    }
    EXPECT_EQ(take(node, chunk), 2u);
    EXPECT_EQ(take(node, chunk), 3u);
  }
  EXPECT_EQ(with_data, 1) << "version 3 crossed once";
  EXPECT_EQ(job.malformed, 0);
}

TEST_F(RelaysTest, OneSubscriberOfTheOtherClusterGetsVersionsAtOnce) {
  ChunkId chunk = create();
  job.subscribe(4, chunk, Policy::kBlock, 2);
  job.write(0, chunk);
  EXPECT_EQ(crossing().with_data, 1);
  EXPECT_EQ(kind_of(job.messages.front()), wire::ChunkKind::kUpdate);
}

TEST_F(RelaysTest, WhatIsSentAtOnceWaitsForWhatWasRelayedBefore) {
  ChunkId chunk = create();
  for (std::uint32_t node : {4, 5}) job.subscribe(node, chunk, Policy::kBlock, 3);
  job.write(0, chunk);
  job.step(5, Unsubscribe{chunk});
  std::deque<ChunkJob::Message> relay;
  relay.swap(job.messages);
  job.messages.push_back(relay.back());
  relay.pop_back();
  ASSERT_EQ(relay.size(), 1u);
  ASSERT_EQ(kind_of(relay[0]), wire::ChunkKind::kRelay);
  job.deliver_all();
  job.write(0, chunk);
  job.deliver_all();
  EXPECT_EQ(take(4, chunk), 0u) << "version 2 is here, and version 1 is not";
  job.messages = relay;
  job.deliver_all();
  EXPECT_EQ(take(4, chunk), 1u);
  EXPECT_EQ(take(4, chunk), 2u);
  EXPECT_EQ(job.malformed, 0);
}

TEST_F(RelaysTest, WhatARelayKeepsIsCounted) {
  ChunkId chunk = create();
  for (std::uint32_t node : {4, 5}) job.subscribe(node, chunk, Policy::kBlock, 6);
  for (std::uint64_t version = 1; version <= 5; ++version) {
    job.write(0, chunk);
    job.deliver_all();
    EXPECT_EQ(job.machine(1).relays().kept_bytes(),
              std::min<std::uint64_t>(version, 3) * ChunkJob::kBytes);
  }
}

// The relay forgets the chunk that was pushed least recently; the next version of that chunk
// crosses the link again.
TEST_F(FullRelayTest, ARelayKeepsNoMoreThanItsMemoryHolds) {
  ChunkId old = create('a'), fresh = create('k');
  ASSERT_NE(old, fresh);
  for (ChunkId chunk : {old, fresh})
    for (std::uint32_t node : {4, 5}) job.subscribe(node, chunk, Policy::kBlock, 6);
  for (ChunkId chunk : {old, fresh, fresh}) {
    job.write(0, chunk);
    job.deliver_all();
    EXPECT_LE(kept(), kRoom);
  }
  EXPECT_EQ(kept(), ChunkJob::kBytes)
      << "the second version of one, which was not counted, goes on";
  for (std::uint32_t node : {4, 5}) {
    EXPECT_EQ(take(node, old), 1u);
    EXPECT_EQ(take(node, fresh), 1u);
    EXPECT_EQ(take(node, fresh), 2u);
  }
  job.deliver_all();
  job.write(0, old);
  EXPECT_EQ(crossing().with_data, 1);
  job.deliver_all();
  for (std::uint32_t node : {4, 5}) EXPECT_EQ(take(node, old), 2u);
  EXPECT_EQ(job.malformed, 0);
}

// The home sends the bytes again that the relay has forgotten, for a subscriber that has room for
// them only now.
TEST_F(FullRelayTest, WhatWasForgottenCrossesAgain) {
  ChunkId late = create('a'), other = create('k');
  for (std::uint32_t node : {4, 5}) {
    job.subscribe(node, late, Policy::kBlock, 1);
    job.subscribe(node, other, Policy::kBlock, 6);
  }
  for (int i = 0; i < 3; ++i) {
    job.write(0, late);
    job.deliver_all();
  }
  for (int i = 0; i < 3; ++i) {
    job.write(0, other);
    job.deliver_all();
  }
  EXPECT_LE(kept(), kRoom);
  for (std::uint64_t version = 1; version <= 3; ++version)
    for (std::uint32_t node : {4, 5}) {
      EXPECT_EQ(take(node, late), version);
      job.deliver_all();
      EXPECT_EQ(take(node, other), version);
      job.deliver_all();
    }
  EXPECT_LE(kept(), kRoom);
  EXPECT_EQ(job.malformed, 0);
}

TEST_F(RelaysTest, MessagesThatNoHomeSendsAreRefused) {
  ChunkId chunk = create();
  for (std::uint32_t node : {4, 5}) job.subscribe(node, chunk, Policy::kBlock, 3);
  job.write(0, chunk);
  ASSERT_EQ(kind_of(job.messages.front()), wire::ChunkKind::kRelay);
  std::vector<std::byte> relay = job.messages.front().bytes;
  job.messages.clear();
  int refused = 0;
  auto refuses = [&](std::uint32_t to, std::uint32_t from, const std::vector<std::byte>& bytes) {
    job.step(to, Received{NodeId{from}, bytes});
    EXPECT_EQ(job.malformed, ++refused);
  };
  refuses(4, 0, relay);  // node 4 is no relay
  refuses(1, 3, relay);  // its home would be in its own cluster
  std::vector<std::byte> short_one(relay.begin(), relay.begin() + 60);
  refuses(1, 0, short_one);
  wire::ChunkMessage relayed{.kind = wire::ChunkKind::kRelayed};
  relayed.turn = 3;
  std::vector<std::byte> bytes;
  wire::put(bytes, relayed);
  wire::put(bytes, wire::ChunkMessage{.kind = wire::ChunkKind::kUpdate});
  refuses(4, 1, bytes);  // its home would be in its own cluster
  for (auto [kind, to, from] : {std::tuple{wire::ChunkKind::kRelayFull, 0, 4},  // no relay
                                {wire::ChunkKind::kRelayEnd, 1, 0}}) {          // it has not asked
    bytes.clear();
    wire::put(bytes, wire::ChunkMessage{.kind = kind, .chunk = chunk.value});
    refuses(static_cast<std::uint32_t>(to), static_cast<std::uint32_t>(from), bytes);
  }
}

}  // namespace
}  // namespace chunks
}  // namespace terrane::protocol
