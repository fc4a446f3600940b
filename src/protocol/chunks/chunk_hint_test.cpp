// Chunks that change their coherence, and homes that die meanwhile.
#include <gtest/gtest.h>

#include "protocol/chunks/chunk_job.h"

namespace terrane::protocol::chunks {
namespace {

// A change of coherence is under way when the home dies; node 3 has not changed yet.
TEST(ChunkHintTest, WhoHasGoneOverStepsBackWhereTheHomeDiesBeforeAllHave) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
  job.write(2, chunk);
  job.open(3, chunk, Mode::kRead, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  job.step(2, Hint{chunk, Coherence::kUpdate, kNever, WaiterId{2}});
  job.deliver_all();
  job.step(2, Subscribe{chunk, Policy::kBlock, 2, WaiterId{3}});  // node 2 has changed
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

// What a node that has not gone over still writes is no version that is pushed.
TEST(ChunkHintTest, WhoSubscribesBeforeAllHaveGoneOverWaitsUntilAllHave) {
  ChunkJob job(4);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
  job.open(3, chunk, Mode::kWrite, 1);
  job.deliver_all();
  job.step(2, Hint{chunk, Coherence::kStream, kNever, WaiterId{2}});
  job.deliver_all();
  job.step(2, Subscribe{chunk, Policy::kBlock, 2, WaiterId{3}});
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(3)) << "node 3 still writes";
  job.close(3, chunk, Mode::kWrite, 1);
  job.deliver_all();
  ASSERT_TRUE(job.opened(3));
  for (std::uint64_t version : {1, 2}) {
    job.step(2, Take{chunk, Wait::kTry, kNever, WaiterId{4}});
    ASSERT_TRUE(job.opened(4));
    EXPECT_EQ(job.resumed.at(4).version, version);
    job.close(2, chunk, Mode::kRead, 4);
    job.write(3, chunk);
    job.deliver_all();
  }
  EXPECT_EQ(job.malformed, 0);
}

TEST(ChunkHintTest, WhoSubscribesWhileItsChunkIsPushedNoMoreIsTold) {
  ChunkJob job(4);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kUpdate);
  job.step(3, Hint{chunk, Coherence::kInvalidate, kNever, WaiterId{2}});
  job.deliver_to(NodeId{0});  // the home asks all to go over
  job.step(2, Subscribe{chunk, Policy::kBlock, 2, WaiterId{3}});
  job.deliver_to(NodeId{2});
  ASSERT_TRUE(job.resumed.contains(3));
  EXPECT_EQ(job.resumed.at(3).status, Status::kMismatch);
  job.deliver_all();
  EXPECT_TRUE(job.opened(2));
  EXPECT_EQ(job.malformed, 0);
}

// No node knows whether all had changed.
TEST(ChunkHintTest, WhatWasWrittenIsLeftWhereTheHomeDiesThatAllHaveGoneOverFor) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
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

// A node that has seen a pushed version reports that the chunk died with its home.
TEST(ChunkHintTest, WhereSomebodyHasSeenThatAllHaveGoneOverAPushedChunkDiesWithItsHome) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
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

// The successor has no bytes of its own while it asks all nodes to change.
TEST(ChunkHintTest, WhereTheOwnerDiesAfterTheHomeOlderBytesGoOver) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
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

// While the chunk was pushed, the try and the writer both waited for memory.
TEST(ChunkHintTest, ATryDoesNotWaitBehindAWriterOfAChunkThatIsPushedNoMore) {
  ChunkJob job(4, 1, 3 * ChunkJob::kBytes);
  ChunkId other = job.create(3, "b", Coherence::kInvalidate);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kUpdate);
  job.write(3, other);
  job.step(2, Hint{chunk, Coherence::kInvalidate, kNever, WaiterId{3}});
  job.deliver_to(NodeId{0});
  job.open(3, chunk, Mode::kWrite, 1);
  job.open(3, chunk, Mode::kRead, 2, Wait::kTry);
  EXPECT_FALSE(job.resumed.contains(1) || job.resumed.contains(2)) << "the other copy leaves";
  job.deliver_all();
  ASSERT_TRUE(job.opened(1));
  ASSERT_TRUE(job.resumed.contains(2));
  EXPECT_EQ(job.resumed.at(2).status, Status::kBusy);
  EXPECT_EQ(job.malformed, 0);
}

// The first successor of the home died when it had notified only some nodes.
TEST(ChunkHintTest, WhatIsGoneForOneNodeIsGoneForAll) {
  ChunkJob job(4, 1);
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
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

TEST(ChunkHintTest, AnotherCoherenceWaitsForScopesAndEndsSubscriptions) {
  ChunkJob job(4);
  ChunkId chunk = job.create({1, 2, 3}, "a", Coherence::kStream);
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

TEST(ChunkHintTest, WhatSomeHaveGoneOverToAllMustThoughWhoHintedDies) {
  ChunkJob job(4);
  ChunkId chunk = job.create({1, 2, 3}, "a", Coherence::kInvalidate);
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
