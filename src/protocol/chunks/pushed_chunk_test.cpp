// Pushed chunks: versions that go to subscribers.
#include <gtest/gtest.h>

#include "protocol/chunks/chunk_job.h"

namespace terrane::protocol::chunks {
namespace {

TEST(PushedChunkTest, AReaderOfAPushedChunkDoesNotWaitForWriters) {
  ChunkJob job(4);
  ChunkId chunk = job.create({1, 2, 3}, "a", Coherence::kUpdate);
  job.write(1, chunk);
  job.open(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  job.open(2, chunk, Mode::kWrite, 2);  // waits for the first writer
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(2));
  job.open(3, chunk, Mode::kRead, 3);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3));
  EXPECT_EQ(job.resumed.at(3).version, 1u);
}

TEST(PushedChunkTest, NorForAWriterOfItsOwnNodeThatWaits) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
  job.write(1, chunk);
  job.open(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  job.open(2, chunk, Mode::kReadWrite, 2);  // waits for node 1
  job.open(2, chunk, Mode::kRead, 3);
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(2));
  ASSERT_TRUE(job.opened(3));
  EXPECT_EQ(job.resumed.at(3).version, 1u);
  job.close(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(2));
  EXPECT_EQ(job.resumed.at(2).version, 2u);
  job.close(2, chunk, Mode::kReadWrite, 2);
  job.close(2, chunk, Mode::kRead, 3);
  EXPECT_EQ(job.malformed, 0);
}

TEST(PushedChunkTest, ATryToWriteDoesNotWaitForReadersThatHoldAllBuffers) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
  for (std::uint32_t reader = 10; reader < 12; ++reader) {  // of two different versions
    job.write(1, chunk);
    job.deliver_all();
    if (reader == 11) {
      job.open(2, chunk, Mode::kReadWrite, 1);
      job.deliver_all();
      job.close(2, chunk, Mode::kReadWrite, 1);
      job.deliver_all();
    }
    job.open(2, chunk, Mode::kRead, reader);
    job.deliver_all();
    ASSERT_TRUE(job.opened(reader));
  }
  job.write(1, chunk);
  job.deliver_all();
  job.open(2, chunk, Mode::kReadWrite, 1, Wait::kTry);  // needs a third version to begin from
  job.deliver_all();
  ASSERT_TRUE(job.resumed.contains(1));
  EXPECT_EQ(job.resumed.at(1).status, Status::kBusy);
  job.close(2, chunk, Mode::kRead, 10);
  job.open(2, chunk, Mode::kReadWrite, 1, Wait::kTry);
  job.deliver_all();
  EXPECT_TRUE(job.opened(1));
}

TEST(PushedChunkTest, AStreamedVersionTakesTwoMessagesAndItsCredits) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kStream);
  job.subscribe(2, chunk, Policy::kBlock, 4);
  job.write(1, chunk);
  job.deliver_all();
  job.write(1, chunk);
  int count = 0;
  for (const ChunkJob::Message& message : job.messages) count += message.bytes.size() > 48;
  EXPECT_EQ(count, 1);              // the version goes to its home
  EXPECT_LE(job.deliver_all(), 3);  // and to the subscriber; besides, credit to the writer
}

// The subscription is slow on its way to the home, and the versions of another node are not.
TEST(PushedChunkTest, WhoHasSubscribedGetsEveryVersionThatIsWrittenFromThenOn) {
  for (Policy policy : {Policy::kBlock, Policy::kLatest, Policy::kDrop}) {
    ChunkJob job(3);
    ChunkId chunk = job.create({1, 2}, "a", Coherence::kStream);
    job.step(2, Subscribe{chunk, policy, 1, WaiterId{97}});
    ASSERT_EQ(job.messages.size(), 1u);
    EXPECT_FALSE(job.resumed.contains(97)) << "the home does not know of it";
    std::deque<ChunkJob::Message> slow;
    slow.swap(job.messages);
    for (int i = 0; i < 2; ++i) {
      job.write(1, chunk);
      job.deliver_all();
    }
    job.messages.swap(slow);
    job.deliver_all();
    ASSERT_TRUE(job.opened(97));
    job.write(1, chunk);
    job.deliver_all();
    for (std::uint64_t version : {2, 3}) {
      job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{2}});
      ASSERT_TRUE(job.opened(2));
      EXPECT_EQ(job.resumed.at(2).version, version);
      job.close(2, chunk, Mode::kRead, 2);
      job.deliver_all();
    }
    EXPECT_EQ(job.malformed, 0);
  }
}

TEST(PushedChunkTest, WhoseSubscriptionEndsBeforeItsHomeAnswersIsTold) {
  for (bool dies : {false, true}) {
    ChunkJob job(4);
    ChunkId chunk = job.create({2, 3}, "a", Coherence::kUpdate);
    job.step(2, Subscribe{chunk, Policy::kBlock, 1, WaiterId{97}});
    job.step(2, Subscribe{chunk, Policy::kBlock, 1, WaiterId{96}});
    EXPECT_EQ(job.resumed.at(96).status, Status::kMismatch) << "another thread subscribes";
    EXPECT_FALSE(job.resumed.contains(97));
    if (dies) {
      job.die(NodeId{0});
    } else {
      job.step(2, Unsubscribe{chunk});
    }
    ASSERT_TRUE(job.resumed.contains(97));
    EXPECT_EQ(job.resumed.at(97).status, dies ? Status::kUnknown : Status::kNotSubscribed);
    if (!dies) job.step(2, Subscribe{chunk, Policy::kBlock, 1, WaiterId{95}});
    job.resumed.erase(97);
    job.deliver_all();
    EXPECT_FALSE(job.resumed.contains(97)) << "nobody waits for the first answer";
    EXPECT_EQ(job.opened(95), !dies);
    EXPECT_EQ(job.malformed, 0);
  }
}

TEST(PushedChunkTest, ASubscriberThatTakesNothingStopsTheWriter) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kStream);
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

TEST(PushedChunkTest, ASlowSubscriberToTheLatestIsToldWhatItMissed) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
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

TEST(PushedChunkTest, WhoSubscribesToAPartHearsOfItsChangesAlone) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kStream);
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

TEST(PushedChunkTest, WhatWasLeftOutOfAPartIsCountedAndItsChangesAreTold) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
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
  write({1, 1});  // sent: the window and one version more
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

TEST(PushedChunkTest, WhoHearsOfAPartReadsTheNewestOfAll) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
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

TEST(PushedChunkTest, ATryToWriteWhatIsPushedAsksForTheRight) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
  job.subscribe(2, chunk, Policy::kBlock, 1);
  job.write(1, chunk);
  job.deliver_all();
  job.open(2, chunk, Mode::kWrite, 1, Wait::kTry);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  job.close(2, chunk, Mode::kWrite, 1);
  job.deliver_all();
  for (int tries = 0; tries < 4; ++tries) {  // until there is no more room
    job.open(1, chunk, Mode::kWrite, 1, Wait::kTry);
    job.deliver_all();
    ASSERT_TRUE(job.resumed.contains(1)) << "a try waits";
    if (!job.opened(1)) break;
    job.close(1, chunk, Mode::kWrite, 1);
    job.deliver_all();
  }
  EXPECT_EQ(job.resumed.at(1).status, Status::kBusy);
}

TEST(PushedChunkTest, ATryIsAskedForBeforeWhoWaitsForMemoryToo) {
  ChunkJob job(3, 1, 3 * ChunkJob::kBytes);  // as much as one pushed chunk needs
  ChunkId dirty = job.create(2, "dirty", Coherence::kInvalidate);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
  job.write(1, chunk);
  job.deliver_all();
  job.write(2, dirty);
  job.open(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  job.open(2, chunk, Mode::kWrite, 2);  // waits until the dirty copy has been evicted
  job.open(2, chunk, Mode::kRead, 3, Wait::kTry);
  job.deliver_all();
  EXPECT_TRUE(job.opened(3)) << "an older version";
  EXPECT_FALSE(job.resumed.contains(2)) << "node 1 writes";
  if (job.opened(3)) job.close(2, chunk, Mode::kRead, 3);
  job.close(1, chunk, Mode::kWrite, 1);
  job.deliver_all();
  EXPECT_TRUE(job.opened(2));
}

TEST(PushedChunkTest, ReadersOfTwoVersionsAndTwoWrittenOnesFitWhatIsCounted) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kUpdate);
  std::uint32_t reader = 10;
  for (int round = 0; round < 4; ++round) {
    if (round < 2) {
      job.write(1, chunk);
      job.deliver_all();
    }
    job.open(2, chunk, Mode::kRead, reader++);  // and keeps its scope open
    job.deliver_all();
    if (round == 0) continue;
    job.open(2, chunk, Mode::kReadWrite, 1);
    job.deliver_all();
    if (!job.opened(1)) break;
    job.open(2, chunk, Mode::kRead, reader++);
    job.deliver_all();
    job.close(2, chunk, Mode::kReadWrite, 1);
    job.deliver_all();
  }
  EXPECT_EQ(job.malformed, 0);
}

TEST(PushedChunkTest, OneOfTwoWritersAtTheSameInstantWritesWhatIsWrittenOnce) {
  ChunkJob job(4);
  ChunkId chunk = job.create({1, 2, 3}, "a", Coherence::kOnce);
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

}  // namespace
}  // namespace terrane::protocol::chunks
