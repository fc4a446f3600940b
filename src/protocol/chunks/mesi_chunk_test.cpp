#include "protocol/chunks/mesi_chunk.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

namespace terrane::protocol::chunks {
namespace {

// The machines of a job with a network in order; of the bytes only that they travel.
class ChunkJob {
 public:
  static constexpr std::uint64_t kBytes = 8;

  explicit ChunkJob(std::uint32_t nodes, std::uint32_t servers = 1,
                    std::uint64_t budget_bytes = 1 << 20) {
    view_.epoch = 1;
    for (std::uint32_t n = 0; n < nodes; ++n) view_.members.push_back(NodeId{n});
    for (std::uint32_t s = 0; s < servers; ++s) view_.slots.push_back({.home = NodeId{s}});
    for (std::uint32_t n = 0; n < nodes; ++n) {
      machines_.push_back(
          std::make_unique<MesiChunk>(MesiConfig{.self = NodeId{n}, .budget_bytes = budget_bytes}));
      step(n, ViewChanged{&view_});
    }
  }

  void step(std::uint32_t node, const Event& event) {
    Effects effects;
    machines_[node]->step(event, effects);
    machines_[node]->check_invariants();
    for (const auto& effect : effects.list) {
      if (const auto* send = std::get_if<Send>(&effect)) {
        Bytes head = Bytes(effects.bytes).subspan(send->offset, send->size);
        std::vector<std::byte> bytes(head.begin(), head.end());
        if (send->with_data) bytes.resize(bytes.size() + kBytes);
        messages.push_back({NodeId{node}, send->to, std::move(bytes)});
      } else if (const auto* resume = std::get_if<Resume>(&effect)) {
        resumed[resume->waiter.value] = *resume;
      } else if (const auto* lost = std::get_if<Lost>(&effect)) {
        losses.push_back(*lost);
      } else if (std::get_if<Malformed>(&effect)) {
        ++malformed;
      }
    }
  }
  // How many messages there were.
  int deliver_all() {
    int count = 0;
    for (; !messages.empty(); ++count) {
      Message message = std::move(messages.front());
      messages.pop_front();
      if (view_.has(message.to)) step(message.to.value, Received{message.from, message.bytes});
    }
    return count;
  }

  // What is under way to one node.
  void deliver_to(NodeId node) {
    std::deque<Message> all;
    all.swap(messages);
    for (Message& message : all) {
      if (message.to == node) {
        step(node.value, Received{message.from, message.bytes});
      } else {
        messages.push_back(std::move(message));
      }
    }
  }

  ChunkId create(std::uint32_t node, std::string_view name, Coherence coherence) {
    step(node, Create{name, kBytes, coherence, WaiterId{99}});
    deliver_all();
    return resumed.at(99).chunk;
  }
  // Also lets the node know the chunk.
  void open(std::uint32_t node, ChunkId chunk, Mode mode, std::uint32_t waiter,
            Wait wait = Wait::kBlock, std::uint64_t deadline_ns = kNever) {
    resumed.erase(waiter);
    step(node, Open{chunk, mode, wait, deadline_ns, WaiterId{waiter}});
  }
  bool opened(std::uint32_t waiter) const {
    return resumed.contains(waiter) && resumed.at(waiter).status == Status::kOk;
  }
  void close(std::uint32_t node, ChunkId chunk, Mode mode, std::uint32_t waiter) {
    step(node, Close{chunk, mode, resumed.at(waiter).place});
  }
  void write(std::uint32_t node, ChunkId chunk) {
    open(node, chunk, Mode::kWrite, 98);
    deliver_all();
    ASSERT_TRUE(opened(98));
    close(node, chunk, Mode::kWrite, 98);
  }
  void subscribe(std::uint32_t node, ChunkId chunk, Policy policy, std::uint32_t window) {
    step(node, Subscribe{chunk, policy, window, WaiterId{97}});
    deliver_all();
  }
  // Everybody learns at once.
  void die(NodeId dead) {
    ++view_.epoch;
    std::erase(view_.members, dead);
    for (View::Slot& slot : view_.slots)
      if (slot.home == dead) slot = {.home = NodeId{dead.value + 1}, .since = view_.epoch};
    std::erase_if(messages, [&](const Message& message) { return message.from == dead; });
    for (NodeId node : view_.members) step(node.value, ViewChanged{&view_});
  }

  struct Message {
    NodeId from;
    NodeId to;
    std::vector<std::byte> bytes;
  };
  std::deque<Message> messages;
  std::map<std::uint32_t, Resume> resumed;  // by waiter
  std::vector<Lost> losses;
  int malformed = 0;

 private:
  View view_;
  std::vector<std::unique_ptr<MesiChunk>> machines_;
};

// Who has left is no dead one: nothing of it is missed.
TEST(MesiChunkTest, WhoLeavesGivesBackWhatItWroteAndNothingIsLost) {
  ChunkJob job(3);
  ChunkId chunk = job.create(0, "shared", Coherence::kInvalidate);
  ChunkId pushed = job.create(0, "pushed", Coherence::kUpdate);
  for (ChunkId id : {chunk, pushed}) {
    job.create(2, id == chunk ? "shared" : "pushed",
               id == chunk ? Coherence::kInvalidate : Coherence::kUpdate);
    job.write(2, id);
  }
  job.subscribe(2, pushed, Policy::kBlock, 2);
  job.step(2, Take{pushed, Wait::kBlock, kNever, WaiterId{5}});
  job.deliver_all();
  job.close(2, pushed, Mode::kRead, 5);
  job.step(2, Leave{WaiterId{7}});
  EXPECT_FALSE(job.resumed.contains(7)) << "before the homes have answered";
  job.deliver_all();
  ASSERT_TRUE(job.resumed.contains(7));
  job.die(NodeId{2});
  EXPECT_TRUE(job.losses.empty());
  job.create(1, "shared", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kRead, 8);
  job.deliver_all();
  ASSERT_TRUE(job.opened(8));
  EXPECT_EQ(job.resumed.at(8).version, 1u);
}

TEST(MesiChunkTest, ATryIsAnsweredThoughAnotherNodeWaitsForTheScope) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "a", Coherence::kInvalidate);
  for (std::uint32_t node : {2, 3}) job.create(node, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kWrite, 1);
  job.open(2, chunk, Mode::kRead, 2);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  EXPECT_FALSE(job.resumed.contains(2));
  job.open(3, chunk, Mode::kRead, 3, Wait::kTry);
  job.deliver_all();
  ASSERT_TRUE(job.resumed.contains(3)) << "it waits for the scope of another";
  EXPECT_EQ(job.resumed.at(3).status, Status::kBusy);
  job.close(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  EXPECT_TRUE(job.opened(2));
}

TEST(MesiChunkTest, AReaderOfAPushedChunkDoesNotWaitForWriters) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "a", Coherence::kUpdate);
  for (std::uint32_t node : {2, 3}) job.create(node, "a", Coherence::kUpdate);
  job.write(1, chunk);
  job.open(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  job.open(2, chunk, Mode::kWrite, 2);  // waits for the first
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(2));
  job.open(3, chunk, Mode::kRead, 3);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3));
  EXPECT_EQ(job.resumed.at(3).version, 1u);
}

TEST(MesiChunkTest, ACreatorWritesAndReadsWithoutAMessage) {
  ChunkJob job(2);
  ChunkId chunk = job.create(1, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kWrite, 1);
  EXPECT_TRUE(job.opened(1));
  job.close(1, chunk, Mode::kWrite, 1);
  job.open(1, chunk, Mode::kRead, 2);
  EXPECT_TRUE(job.opened(2));
  EXPECT_EQ(job.resumed.at(2).version, 1u);
  EXPECT_TRUE(job.messages.empty());
}

TEST(MesiChunkTest, AWriterWaitsForAllReaders) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "a", Coherence::kInvalidate);
  job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kRead, 1);
  job.open(2, chunk, Mode::kRead, 2);
  job.deliver_all();
  EXPECT_TRUE(job.opened(1) && job.opened(2));
  job.open(3, chunk, Mode::kWrite, 3);
  job.deliver_all();
  job.close(1, chunk, Mode::kRead, 1);
  job.deliver_all();
  EXPECT_FALSE(job.opened(3));
  job.close(2, chunk, Mode::kRead, 2);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3));
}

TEST(MesiChunkTest, ATryIsAnsweredWhileSomebodyWrites) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kInvalidate);
  job.create(2, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kWrite, 1);
  job.open(2, chunk, Mode::kRead, 2, Wait::kTry);
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(2).status, Status::kBusy);
}

TEST(MesiChunkTest, ADeadlineEndsTheWaitAndTheRequest) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kInvalidate);
  job.create(2, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kWrite, 1);
  job.open(2, chunk, Mode::kRead, 2, Wait::kBlock, 10);
  job.deliver_all();
  job.step(2, Elapsed{10});
  EXPECT_EQ(job.resumed.at(2).status, Status::kTimedOut);
  job.deliver_all();
  job.close(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  job.open(2, chunk, Mode::kRead, 3);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3));
  EXPECT_EQ(job.malformed, 0);
}

TEST(MesiChunkTest, AStreamedVersionTakesTwoMessagesAndItsCredits) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kStream);
  job.create(2, "a", Coherence::kStream);
  job.subscribe(2, chunk, Policy::kBlock, 4);
  job.write(1, chunk);
  job.deliver_all();
  job.write(1, chunk);
  int count = 0;
  for (const ChunkJob::Message& message : job.messages) count += message.bytes.size() > 48;
  EXPECT_EQ(count, 1);              // the version goes to its home
  EXPECT_LE(job.deliver_all(), 3);  // and on to the subscriber, beside the writer's credit
}

TEST(MesiChunkTest, ASubscriberThatTakesNothingStopsTheWriter) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kStream);
  job.create(2, "a", Coherence::kStream);
  job.subscribe(2, chunk, Policy::kBlock, 2);
  int written = 0;
  for (; written < 20; ++written) {
    job.open(1, chunk, Mode::kWrite, 1);
    job.deliver_all();
    if (!job.opened(1)) break;
    job.close(1, chunk, Mode::kWrite, 1);
    job.deliver_all();
  }
  EXPECT_LT(written, 10);
  for (std::uint64_t version = 1; version <= 2; ++version) {
    job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
    ASSERT_TRUE(job.opened(2));
    EXPECT_EQ(job.resumed.at(2).version, version);
    job.close(2, chunk, Mode::kRead, 2);
    job.deliver_all();
  }
  EXPECT_TRUE(job.opened(1));
}

TEST(MesiChunkTest, ASlowSubscriberToTheLatestIsToldWhatItMissed) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kUpdate);
  job.create(2, "a", Coherence::kUpdate);
  job.subscribe(2, chunk, Policy::kLatest, 1);
  for (int i = 0; i < 10; ++i) {
    job.write(1, chunk);
    job.deliver_all();
  }
  std::uint64_t seen = 0;
  for (int i = 0; i < 3 && seen < 10; ++i) {
    job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
    ASSERT_TRUE(job.opened(2));
    EXPECT_EQ(job.resumed.at(2).missed, seen == 0 ? 0 : job.resumed.at(2).version - seen - 1);
    seen = job.resumed.at(2).version;
    job.close(2, chunk, Mode::kRead, 2);
    job.deliver_all();
  }
  EXPECT_EQ(seen, 10u);
}

TEST(MesiChunkTest, AnOwnersDeathIsToldByNameAndTheHomesVersionHolds) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "frame", Coherence::kInvalidate);
  job.create(3, "frame", Coherence::kInvalidate);
  job.write(1, chunk);
  job.open(3, chunk, Mode::kRead, 3);
  job.deliver_all();
  job.close(3, chunk, Mode::kRead, 3);
  job.write(1, chunk);
  job.die(NodeId{1});
  job.open(3, chunk, Mode::kRead, 4);
  job.deliver_all();
  ASSERT_EQ(job.losses.size(), 1u);
  EXPECT_EQ(job.losses[0].name, "frame");
  EXPECT_TRUE(job.opened(4));
  EXPECT_EQ(job.resumed.at(4).version, 1u);
}

TEST(MesiChunkTest, ASuccessorLearnsWhoMayWriteAndServesWhoWaited) {
  ChunkJob job(4);  // node 1 succeeds node 0
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.open(2, chunk, Mode::kWrite, 2);
  job.open(3, chunk, Mode::kRead, 3);
  job.deliver_all();
  job.die(NodeId{0});
  job.deliver_all();
  EXPECT_FALSE(job.opened(3));
  job.close(2, chunk, Mode::kWrite, 2);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3));
  EXPECT_EQ(job.resumed.at(3).version, 1u);
  EXPECT_TRUE(job.losses.empty());
  EXPECT_EQ(job.malformed, 0);
}

TEST(MesiChunkTest, WhatNobodyHasAnyMoreIsZerosAndTold) {
  ChunkJob job(4);
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.write(2, chunk);
  job.die(NodeId{2});
  job.die(NodeId{0});
  job.deliver_all();
  ASSERT_EQ(job.losses.size(), 2u);
  EXPECT_EQ(job.losses[1].from, Lost::kNothing);
  job.open(3, chunk, Mode::kReadWrite, 3);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3));
}

TEST(MesiChunkTest, WhoSubscribesToAPartHearsOfItsChangesAlone) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kStream);
  job.create(2, "a", Coherence::kStream);
  job.step(2, Subscribe{chunk, Policy::kBlock, 4, WaiterId{97}, {.offset = 4, .bytes = 2}});
  job.deliver_all();
  for (Range wrote : {Range{0, 4}, Range{3, 2}, Range{6, 2}, Range{0, 8}}) {
    job.open(1, chunk, Mode::kReadWrite, 1);
    job.deliver_all();
    job.step(1, Close{chunk, Mode::kReadWrite, job.resumed.at(1).place, wrote});
    job.deliver_all();
  }
  for (auto [version, changed] : {std::pair{2u, Range{3, 2}}, {4u, Range{0, 8}}}) {
    job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
    ASSERT_TRUE(job.opened(2));
    EXPECT_EQ(job.resumed.at(2).version, version);
    EXPECT_EQ(job.resumed.at(2).changed, changed);
    EXPECT_EQ(job.resumed.at(2).missed, 0u);
    job.close(2, chunk, Mode::kRead, 2);
  }
  job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
  EXPECT_EQ(job.resumed.at(2).status, Status::kBusy);
  EXPECT_EQ(job.malformed, 0);
}

TEST(MesiChunkTest, WhatWasLeftOutOfAPartIsCountedAndItsChangesAreTold) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kUpdate);
  job.create(2, "a", Coherence::kUpdate);
  job.step(2, Subscribe{chunk, Policy::kLatest, 1, WaiterId{97}, {.offset = 0, .bytes = 4}});
  job.deliver_all();
  auto write = [&](Range wrote) {
    job.open(1, chunk, Mode::kReadWrite, 1);
    job.deliver_all();
    job.step(1, Close{chunk, Mode::kReadWrite, job.resumed.at(1).place, wrote});
    job.deliver_all();
  };
  auto take = [&] {
    job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
    job.deliver_all();
    return job.resumed.at(2);
  };
  write({0, 1});  // sent
  write({1, 1});  // sent: the window and one
  for (Range wrote : {Range{2, 1}, Range{5, 1}, Range{3, 2}, Range{7, 1}}) write(wrote);
  EXPECT_EQ(take().version, 1u);
  job.close(2, chunk, Mode::kRead, 2);
  job.deliver_all();
  std::uint64_t last = 1;
  for (std::uint64_t missed = 0; last < 5;) {
    Resume next = take();
    ASSERT_EQ(next.status, Status::kOk);
    last = next.version;
    missed += next.missed;
    job.close(2, chunk, Mode::kRead, 2);
    job.deliver_all();
    if (last < 5) continue;
    EXPECT_EQ(missed, 1u) << "versions 3 and 5 were one, 4 and 6 are not of its part";
    EXPECT_EQ(next.changed, (Range{2, 3}));
  }
  EXPECT_EQ(take().status, Status::kBusy);
}

TEST(MesiChunkTest, WhoHearsOfAPartReadsTheNewestOfAll) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kUpdate);
  job.create(2, "a", Coherence::kUpdate);
  job.step(2, Subscribe{chunk, Policy::kBlock, 2, WaiterId{97}, {.offset = 0, .bytes = 1}});
  job.deliver_all();
  for (std::uint64_t version = 1; version <= 3; ++version) {
    job.open(1, chunk, Mode::kReadWrite, 1);
    job.deliver_all();
    Range wrote{version == 1 ? 0u : 4u, 1};
    job.step(1, Close{chunk, Mode::kReadWrite, job.resumed.at(1).place, wrote});
    job.deliver_all();
    job.open(2, chunk, Mode::kRead, 2);
    job.deliver_all();
    ASSERT_TRUE(job.opened(2));
    EXPECT_EQ(job.resumed.at(2).version, version);
    job.close(2, chunk, Mode::kRead, 2);
  }
}

TEST(MesiChunkTest, ATryToWriteWhatIsPushedAsksForTheRight) {
  ChunkJob job(3);
  ChunkId chunk = job.create(1, "a", Coherence::kUpdate);
  job.create(2, "a", Coherence::kUpdate);
  job.subscribe(2, chunk, Policy::kBlock, 1);
  job.write(1, chunk);
  job.deliver_all();
  job.open(2, chunk, Mode::kWrite, 1, Wait::kTry);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  job.close(2, chunk, Mode::kWrite, 1);
  job.deliver_all();
  for (int tries = 0; tries < 4; ++tries) {  // until there is room for no more
    job.open(1, chunk, Mode::kWrite, 1, Wait::kTry);
    job.deliver_all();
    ASSERT_TRUE(job.resumed.contains(1)) << "a try waits";
    if (!job.opened(1)) break;
    job.close(1, chunk, Mode::kWrite, 1);
    job.deliver_all();
  }
  EXPECT_EQ(job.resumed.at(1).status, Status::kBusy);
}

TEST(MesiChunkTest, ATryIsAskedForBeforeWhoWaitsForMemoryToo) {
  ChunkJob job(3, 1, 3 * ChunkJob::kBytes);  // as much as one pushed chunk takes
  ChunkId dirty = job.create(2, "dirty", Coherence::kInvalidate);
  ChunkId chunk = job.create(1, "a", Coherence::kUpdate);
  job.create(2, "a", Coherence::kUpdate);
  job.write(1, chunk);
  job.deliver_all();
  job.write(2, dirty);
  job.open(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  job.open(2, chunk, Mode::kWrite, 2);  // waits until what is dirty has left
  job.open(2, chunk, Mode::kRead, 3, Wait::kTry);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3)) << "an older version";
  EXPECT_FALSE(job.resumed.contains(2)) << "node 1 writes";
  if (job.opened(3)) job.close(2, chunk, Mode::kRead, 3);
  job.close(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  EXPECT_TRUE(job.opened(2));
}

// A change of coherence is under way when the home dies; node 3 has not gone over.
TEST(MesiChunkTest, WhoHasGoneOverStepsBackWhereTheHomeDiesBeforeAllHave) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.write(2, chunk);
  job.open(3, chunk, Mode::kRead, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  job.step(2, Hint{chunk, Coherence::kUpdate, kNever, WaiterId{2}});
  job.deliver_all();
  job.step(2, Subscribe{chunk, Policy::kBlock, 2, WaiterId{3}});  // it has gone over
  job.step(2, Take{chunk, Wait::kBlock, kNever, WaiterId{4}});
  job.die(NodeId{0});
  job.deliver_all();
  EXPECT_TRUE(job.losses.empty()) << "node 3 has the last version";
  ASSERT_TRUE(job.resumed.contains(4));
  EXPECT_EQ(job.resumed.at(4).status, Status::kNotSubscribed);
  EXPECT_FALSE(job.resumed.contains(2)) << "node 3 still looks at it";
  job.close(3, chunk, Mode::kRead, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(2)) << "all have gone over now";
  job.subscribe(3, chunk, Policy::kBlock, 2);
  job.write(2, chunk);
  job.step(3, Take{chunk, Wait::kTry, kNever, WaiterId{5}});
  ASSERT_TRUE(job.opened(5));
  EXPECT_EQ(job.resumed.at(5).version, 1u) << "what was there";
  EXPECT_EQ(job.malformed, 0);
}

// Whether all had, nobody knows.
TEST(MesiChunkTest, WhatWasWrittenIsLeftWhereTheHomeDiesThatAllHaveGoneOverFor) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.write(2, chunk);
  job.step(3, Hint{chunk, Coherence::kOnce, kNever, WaiterId{2}});
  for (std::uint32_t node : {0, 1, 2, 3}) job.deliver_to(NodeId{node});
  job.die(NodeId{0});
  job.deliver_all();
  ASSERT_EQ(job.losses.size(), 1u);
  EXPECT_EQ(job.losses[0].from, 1u) << "node 2 has kept its bytes";
  ASSERT_TRUE(job.opened(2));
  job.open(3, chunk, Mode::kRead, 3);
  job.deliver_all();
  ASSERT_TRUE(job.opened(3));
  EXPECT_EQ(job.resumed.at(3).version, 2u);
  job.open(3, chunk, Mode::kWrite, 4);
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(4).status, Status::kWritten);
  EXPECT_EQ(job.malformed, 0);
}

// A node that has seen a pushed version tells the others that the chunk died with its home.
TEST(MesiChunkTest, WhereSomebodyHasSeenThatAllHaveGoneOverAPushedChunkDiesWithItsHome) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.write(2, chunk);
  job.step(3, Hint{chunk, Coherence::kUpdate, kNever, WaiterId{2}});
  job.deliver_all();
  ASSERT_TRUE(job.opened(2));
  job.open(2, chunk, Mode::kWrite, 3);
  job.die(NodeId{0});
  job.deliver_all();
  ASSERT_EQ(job.losses.size(), 1u);
  EXPECT_EQ(job.losses[0].from, Lost::kNothing);
  ASSERT_TRUE(job.resumed.contains(3));
  EXPECT_EQ(job.resumed.at(3).status, Status::kUnknown);
}

// The successor has no bytes of its own while it asks all to go over.
TEST(MesiChunkTest, WhereTheOwnerDiesAfterTheHomeOlderBytesGoOver) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.write(2, chunk);
  job.write(3, chunk);
  job.die(NodeId{0});
  job.deliver_all();
  EXPECT_TRUE(job.losses.empty()) << "node 3 has the last version";
  job.step(2, Hint{chunk, Coherence::kUpdate, kNever, WaiterId{2}});
  job.deliver_to(NodeId{1});
  job.die(NodeId{3});
  job.deliver_all();
  ASSERT_EQ(job.losses.size(), 1u);
  EXPECT_EQ(job.losses[0].from, 1u) << "node 2 has kept its bytes";
  ASSERT_TRUE(job.opened(2));
  job.open(2, chunk, Mode::kRead, 3);
  job.deliver_all();
  ASSERT_TRUE(job.opened(3));
  EXPECT_EQ(job.resumed.at(3).version, job.losses[0].version);
}

// Its first successor died when it had told only some.
TEST(MesiChunkTest, WhatIsGoneForOneNodeIsGoneForAll) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create(2, "a", Coherence::kInvalidate);
  job.create(3, "a", Coherence::kInvalidate);
  job.step(2, Hint{chunk, Coherence::kUpdate, kNever, WaiterId{2}});
  job.deliver_all();
  job.write(2, chunk);
  job.die(NodeId{0});
  job.deliver_to(NodeId{1});
  EXPECT_EQ(job.losses.size(), 1u);
  job.deliver_to(NodeId{2});
  job.step(2, Create{"a", ChunkJob::kBytes, Coherence::kInvalidate, WaiterId{4}});
  job.deliver_to(NodeId{1});
  job.deliver_to(NodeId{2});
  ASSERT_TRUE(job.opened(4)) << "another of its name";
  job.die(NodeId{1});
  job.deliver_all();
  EXPECT_EQ(job.losses.size(), 2u) << "node 3 had not heard of it";
  job.open(3, chunk, Mode::kRead, 3);
  job.deliver_all();
  ASSERT_TRUE(job.resumed.contains(3));
  EXPECT_EQ(job.resumed.at(3).status, Status::kUnknown);
  EXPECT_EQ(job.create(3, "a", Coherence::kInvalidate), job.resumed.at(4).chunk);
  EXPECT_EQ(job.malformed, 0);
}

TEST(MesiChunkTest, OneOfTwoWritersAtTheSameInstantWritesWhatIsWrittenOnce) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "a", Coherence::kOnce);
  for (std::uint32_t node : {2, 3}) job.create(node, "a", Coherence::kOnce);
  job.open(2, chunk, Mode::kWrite, 2);
  job.open(3, chunk, Mode::kWrite, 3);
  job.deliver_all();
  ASSERT_NE(job.opened(2), job.opened(3));
  std::uint32_t writer = job.opened(2) ? 2 : 3, other = 5 - writer;
  job.close(writer, chunk, Mode::kWrite, writer);
  job.deliver_all();
  ASSERT_TRUE(job.resumed.contains(other));
  EXPECT_EQ(job.resumed.at(other).status, Status::kWritten);
  EXPECT_EQ(job.resumed.at(other).version, writer);
  job.open(writer, chunk, Mode::kReadWrite, 1);
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(1).status, Status::kWritten);
}

TEST(MesiChunkTest, AnotherCoherenceWaitsForScopesAndEndsSubscriptions) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "a", Coherence::kStream);
  for (std::uint32_t node : {2, 3}) job.create(node, "a", Coherence::kStream);
  job.subscribe(2, chunk, Policy::kBlock, 2);
  job.write(1, chunk);
  job.deliver_all();
  job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
  ASSERT_TRUE(job.opened(2));
  job.step(3, Hint{chunk, Coherence::kInvalidate, kNever, WaiterId{3}});
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(3));
  job.open(1, chunk, Mode::kRead, 1);
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(1));
  job.close(2, chunk, Mode::kRead, 2);
  job.deliver_all();
  ASSERT_TRUE(job.opened(3));
  EXPECT_TRUE(job.opened(1));
  EXPECT_EQ(job.resumed.at(1).version, 1u);
  job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
  EXPECT_EQ(job.resumed.at(2).status, Status::kNotSubscribed);
  EXPECT_EQ(job.malformed, 0);
}

TEST(MesiChunkTest, WhatSomeHaveGoneOverToAllMustThoughWhoHintedDies) {
  ChunkJob job(4);
  ChunkId chunk = job.create(1, "a", Coherence::kInvalidate);
  for (std::uint32_t node : {2, 3}) job.create(node, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kWrite, 1);
  job.step(3, Hint{chunk, Coherence::kUpdate, kNever, WaiterId{3}});
  job.deliver_all();
  job.die(NodeId{3});
  job.deliver_all();
  job.close(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  job.subscribe(2, chunk, Policy::kBlock, 1);
  EXPECT_EQ(job.resumed.at(97).status, Status::kOk);
  job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
  ASSERT_TRUE(job.opened(2));
  EXPECT_EQ(job.resumed.at(2).version, 1u);
  EXPECT_EQ(job.malformed, 0);
}

}  // namespace
}  // namespace terrane::protocol::chunks
