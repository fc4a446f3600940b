// Scopes, tries, deadlines, and nodes that die or leave.
#include <gtest/gtest.h>

#include "protocol/chunks/chunk_job.h"

namespace terrane::protocol::chunks {
namespace {

// A node that has left is not a dead one: nothing of it is lost.
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
  ChunkId chunk = job.create({1, 2, 3}, "a", Coherence::kInvalidate);
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
  ChunkId chunk = job.create({1, 2, 3}, "a", Coherence::kInvalidate);
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
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kInvalidate);
  job.open(1, chunk, Mode::kWrite, 1);
  job.open(2, chunk, Mode::kRead, 2, Wait::kTry);
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(2).status, Status::kBusy);
}

TEST(MesiChunkTest, ADeadlineEndsTheWaitAndTheRequest) {
  ChunkJob job(3);
  ChunkId chunk = job.create({1, 2}, "a", Coherence::kInvalidate);
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

TEST(MesiChunkTest, AnOwnersDeathIsToldByNameAndTheHomesVersionHolds) {
  ChunkJob job(4);
  ChunkId chunk = job.create({1, 3}, "frame", Coherence::kInvalidate);
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
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
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
  ChunkId chunk = job.create({2, 3}, "a", Coherence::kInvalidate);
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

}  // namespace
}  // namespace terrane::protocol::chunks
