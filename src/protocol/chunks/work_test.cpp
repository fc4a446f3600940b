// Work streams: each version goes to one subscriber.
#include <gtest/gtest.h>

#include "protocol/chunks/chunk_job.h"

namespace terrane::protocol::chunks {
namespace {

constexpr std::uint64_t kLong = 1000;  // bytes of a full version

// Nodes 0 (server and name's home), 1, 2, ... of a job with one stream.
class WorkJob : public ChunkJob {
 public:
  explicit WorkJob(std::uint32_t nodes, std::uint64_t budget_bytes = 1 << 20)
      : ChunkJob(nodes, 1, budget_bytes), nodes_(nodes) {}

  ChunkId stream(std::string_view name, const WorkShape& shape) {
    ChunkId id = kNoChunk;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      step(node, Create{name, kLong, Coherence::kWork, WaiterId{99}, shape});
      deliver_all();
      id = resumed.at(99).chunk;
    }
    return id;
  }
  Status subscribe(std::uint32_t node, ChunkId chunk, std::uint64_t credit) {
    resumed.erase(97);
    step(node, WorkSubscribe{chunk, credit, WaiterId{97}});
    deliver_all();
    return resumed.contains(97) ? resumed.at(97).status : Status::kTimedOut;
  }
  Resume try_write(std::uint32_t node, ChunkId chunk) {
    resumed.erase(96);
    step(node, WorkWrite{chunk, Wait::kTry, kNever, WaiterId{96}});
    deliver_all();
    return resumed.at(96);
  }
  bool put(std::uint32_t node, ChunkId chunk, std::uint64_t tag,
           std::vector<WorkSource> sources = {}) {
    Resume open = try_write(node, chunk);
    if (open.status != Status::kOk) return false;
    step(node, WorkPublish{chunk, open.place, kLong, tag, sources});
    return true;
  }
  Resume try_take(std::uint32_t node, ChunkId chunk) {
    resumed.erase(95);
    step(node, WorkTake{chunk, Wait::kTry, kNever, WaiterId{95}});
    deliver_all();
    return resumed.at(95);
  }
  Status end(std::uint32_t node, ChunkId chunk) {
    resumed.erase(94);
    step(node, WorkEnd{chunk, WaiterId{94}});
    deliver_all();
    return resumed.contains(94) ? resumed.at(94).status : Status::kTimedOut;
  }
  void release(std::uint32_t node, ChunkId chunk, const Resume& open) {
    step(node, WorkRelease{chunk, open.place});
    deliver_all();
  }

 private:
  std::uint32_t nodes_;
};

TEST(WorkTest, EachVersionGoesToOneSubscriber) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 8 * kLong, .home = 1});
  EXPECT_EQ(job.subscribe(2, chunk, 2 * kLong), Status::kOk);
  EXPECT_EQ(job.subscribe(3, chunk, 2 * kLong), Status::kOk);
  for (std::uint64_t tag = 0; tag < 4; ++tag) ASSERT_TRUE(job.put(1, chunk, 10 + tag));
  job.deliver_all();
  std::vector<std::uint64_t> tags;
  for (std::uint32_t node : {2u, 3u, 2u, 3u}) {
    Resume taken = job.try_take(node, chunk);
    ASSERT_EQ(taken.status, Status::kOk);
    EXPECT_EQ(taken.work.bytes, kLong);
    EXPECT_EQ(taken.work.writer, NodeId{1});
    tags.push_back(taken.work.tag);
  }
  std::sort(tags.begin(), tags.end());
  EXPECT_EQ(tags, (std::vector<std::uint64_t>{10, 11, 12, 13}));
  EXPECT_EQ(job.try_take(2, chunk).status, Status::kBusy);
  EXPECT_EQ(job.malformed, 0);
}

TEST(WorkTest, AFrameTakesFourMessagesAndTwoTransfers) {
  WorkJob job(4);
  ChunkId frames = job.stream("frames", {.capacity = 4 * kLong, .home = 1});
  ChunkId results = job.stream("results", {.capacity = 4 * kLong, .in_order = true, .home = 3});
  job.subscribe(2, frames, 2 * kLong);
  job.subscribe(3, results, 2 * kLong);
  ASSERT_TRUE(job.put(1, frames, 0));
  job.deliver_all();
  job.release(2, frames, job.try_take(2, frames));
  ASSERT_TRUE(job.put(2, results, 0));
  job.deliver_all();
  job.release(3, results, job.try_take(3, results));
  int messages = 0, transfers = 0;
  auto count = [&] {
    while (!job.messages.empty()) {
      ++messages;
      transfers += job.messages.front().bytes.size() > sizeof(wire::ChunkMessage);
      ChunkJob::Message message = job.messages.front();
      job.messages.pop_front();
      job.step(message.to.value, Received{message.from, message.bytes});
    }
  };
  auto data = [&] {
    int all = 0;
    for (const auto& message : job.messages)
      all += message.bytes.size() == sizeof(wire::ChunkMessage) + ChunkJob::kBytes;
    return all;
  };
  // The second frame: the nodes have learned of each other.
  Resume open = job.try_write(1, frames);
  job.step(1, WorkPublish{frames, open.place, ChunkJob::kBytes, 1});
  int carried = data();
  count();
  Resume frame = job.try_take(2, frames);
  Resume result = job.try_write(2, results);
  const WorkSource made_from{frames, frame.place};
  job.step(2, WorkPublish{results, result.place, ChunkJob::kBytes, 1, std::span(&made_from, 1)});
  carried += data();
  count();
  job.step(2, WorkRelease{frames, frame.place});
  count();
  Resume shown = job.try_take(3, results);
  ASSERT_EQ(shown.status, Status::kOk);
  job.step(3, WorkRelease{results, shown.place});
  count();
  EXPECT_LE(messages, 4);
  EXPECT_EQ(carried, 2);
  EXPECT_GE(transfers, 2);
  EXPECT_EQ(job.malformed, 0);
}

TEST(WorkTest, AWriterStopsAtItsCapacity) {
  WorkJob job(3);
  ChunkId chunk = job.stream("frames", {.capacity = 3 * kLong, .home = 0});
  int written = 0;
  while (job.put(1, chunk, 0) && written < 10) ++written;
  EXPECT_EQ(written, 3);
  job.subscribe(2, chunk, kLong);
  Resume taken = job.try_take(2, chunk);
  EXPECT_EQ(job.try_write(1, chunk).status, Status::kBusy);
  job.release(2, chunk, taken);
  job.release(2, chunk, job.try_take(2, chunk));
  EXPECT_TRUE(job.put(1, chunk, 0));
}

TEST(WorkTest, ManyVersionsOfANodeAreOpen) {
  WorkJob job(3);
  ChunkId chunk = job.stream("frames", {.capacity = 8 * kLong, .home = 0});
  std::vector<Resume> open;
  for (int i = 0; i < 8; ++i) {
    open.push_back(job.try_write(1, chunk));
    ASSERT_EQ(open.back().status, Status::kOk);
  }
  EXPECT_EQ(job.try_write(1, chunk).status, Status::kBusy);
  job.subscribe(2, chunk, 8 * kLong);
  for (const Resume& one : open) job.step(1, WorkPublish{chunk, one.place, 0, 5});
  job.deliver_all();
  for (int i = 0; i < 8; ++i) {
    Resume taken = job.try_take(2, chunk);
    ASSERT_EQ(taken.status, Status::kOk);
    EXPECT_EQ(taken.work.bytes, 0u);
  }
}

TEST(WorkTest, WhatADeadSubscriberHadGoesToTheNextFirst) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 8 * kLong, .home = 0});
  job.subscribe(2, chunk, 2 * kLong);
  for (std::uint64_t tag = 0; tag < 3; ++tag) ASSERT_TRUE(job.put(1, chunk, tag));
  job.deliver_all();
  EXPECT_EQ(job.try_take(2, chunk).work.tag, 0u);
  job.subscribe(3, chunk, 8 * kLong);
  job.die(NodeId{2});
  job.deliver_all();
  std::map<std::uint64_t, bool> again;
  for (int i = 0; i < 3; ++i) {
    Resume taken = job.try_take(3, chunk);
    ASSERT_EQ(taken.status, Status::kOk);
    again[taken.work.tag] = taken.work.again;
  }
  EXPECT_EQ(again, (std::map<std::uint64_t, bool>{{0, true}, {1, true}, {2, false}}));
}

TEST(WorkTest, AFrameIsGivenAgainUntilItsResultIsDone) {
  WorkJob job(5);
  ChunkId frames = job.stream("frames", {.capacity = 8 * kLong, .home = 0});
  ChunkId results = job.stream("results", {.capacity = 8 * kLong, .in_order = true, .home = 4});
  job.subscribe(2, frames, 2 * kLong);
  ASSERT_TRUE(job.put(1, frames, 0));
  job.deliver_all();
  Resume frame = job.try_take(2, frames);
  ASSERT_TRUE(job.put(2, results, 0, {{frames, frame.place}}));
  job.release(2, frames, frame);
  job.subscribe(3, frames, 2 * kLong);
  job.die(NodeId{2});  // its result is at node 4, which has not taken it
  job.deliver_all();
  frame = job.try_take(3, frames);
  ASSERT_EQ(frame.status, Status::kOk);
  EXPECT_TRUE(frame.work.again);
  ASSERT_TRUE(job.put(3, results, 0, {{frames, frame.place}}));
  job.deliver_all();
  job.release(3, frames, frame);
  EXPECT_EQ(job.end(1, frames), Status::kOk);
  EXPECT_EQ(job.try_take(3, frames).status, Status::kBusy) << "its result is not done";
  job.subscribe(4, results, kLong);
  Resume shown = job.try_take(4, results);
  ASSERT_EQ(shown.status, Status::kOk);
  job.release(4, results, shown);
  EXPECT_EQ(job.try_take(4, results).status, Status::kBusy) << "each tag once";
  EXPECT_EQ(job.try_take(3, frames).status, Status::kEnded);
}

TEST(WorkTest, VersionsInOrderAreGivenByTag) {
  WorkJob job(4);
  ChunkId chunk = job.stream("results", {.capacity = 8 * kLong, .in_order = true, .home = 3});
  job.subscribe(3, chunk, 8 * kLong);
  for (std::uint64_t tag : {2u, 1u}) ASSERT_TRUE(job.put(1, chunk, tag));
  EXPECT_EQ(job.try_take(3, chunk).status, Status::kBusy);
  for (std::uint64_t tag : {0u, 1u}) ASSERT_TRUE(job.put(2, chunk, tag));
  for (std::uint64_t tag : {0u, 1u, 2u}) {
    Resume taken = job.try_take(3, chunk);
    ASSERT_EQ(taken.status, Status::kOk);
    EXPECT_EQ(taken.work.tag, tag);
  }
  EXPECT_EQ(job.try_take(3, chunk).status, Status::kBusy);
  EXPECT_EQ(job.subscribe(2, chunk, kLong), Status::kMismatch) << "one subscriber";
}

TEST(WorkTest, AGapThatStaysAfterTheEndIsPassedOver) {
  WorkJob job(4);
  ChunkId chunk = job.stream("results", {.capacity = 8 * kLong, .in_order = true, .home = 3});
  job.subscribe(3, chunk, kLong);
  for (std::uint64_t tag : {4u, 2u}) ASSERT_TRUE(job.put(1, chunk, tag));
  job.deliver_all();
  EXPECT_EQ(job.try_take(3, chunk).status, Status::kBusy);
  EXPECT_EQ(job.end(1, chunk), Status::kOk);
  for (std::uint64_t tag : {2u, 4u}) {
    Resume taken = job.try_take(3, chunk);
    ASSERT_EQ(taken.status, Status::kOk);
    EXPECT_EQ(taken.work.tag, tag);
    job.release(3, chunk, taken);
  }
  EXPECT_EQ(job.try_take(3, chunk).status, Status::kEnded);
}

TEST(WorkTest, AWriterHearsThatItsLastSubscriberHasDied) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 2 * kLong, .home = 0});
  job.subscribe(2, chunk, kLong);
  ASSERT_TRUE(job.put(1, chunk, 0));
  ASSERT_TRUE(job.put(1, chunk, 1));
  job.step(1, WorkWrite{chunk, Wait::kBlock, kNever, WaiterId{50}});
  job.deliver_all();
  EXPECT_FALSE(job.resumed.contains(50));
  job.die(NodeId{2});
  job.deliver_all();
  ASSERT_TRUE(job.resumed.contains(50));
  EXPECT_EQ(job.resumed.at(50).status, Status::kDied);
  EXPECT_EQ(job.resumed.at(50).version, 2u) << "the node";
  job.subscribe(3, chunk, kLong);
  job.release(3, chunk, job.try_take(3, chunk));
  job.release(3, chunk, job.try_take(3, chunk));
  EXPECT_TRUE(job.put(1, chunk, 2));
}

TEST(WorkTest, AStreamEndsOnceAllIsDone) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 4 * kLong, .home = 0});
  job.subscribe(2, chunk, kLong);
  job.subscribe(3, chunk, kLong);
  ASSERT_TRUE(job.put(1, chunk, 0));
  job.deliver_all();
  Resume open = job.try_write(1, chunk);
  ASSERT_EQ(open.status, Status::kOk);
  EXPECT_EQ(job.end(3, chunk), Status::kOk);
  EXPECT_EQ(job.try_write(1, chunk).status, Status::kEnded);
  job.step(1, WorkPublish{chunk, open.place, 8, 9});  // dropped: the stream has ended
  Resume taken = job.try_take(2, chunk);
  ASSERT_EQ(taken.status, Status::kOk);
  EXPECT_EQ(job.try_take(3, chunk).status, Status::kBusy);
  job.release(2, chunk, taken);
  EXPECT_EQ(job.try_take(2, chunk).status, Status::kEnded);
  EXPECT_EQ(job.try_take(3, chunk).status, Status::kEnded);
  EXPECT_EQ(job.subscribe(1, chunk, kLong), Status::kEnded);
  EXPECT_EQ(job.malformed, 0);
}

TEST(WorkTest, TheFirstSubscriberIsTheHome) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 4 * kLong, .home = kHomeAtFirst});
  EXPECT_EQ(job.try_write(1, chunk).status, Status::kBusy) << "no home yet";
  job.step(1, WorkWrite{chunk, Wait::kBlock, kNever, WaiterId{50}});
  job.deliver_all();
  EXPECT_FALSE(job.opened(50));
  EXPECT_EQ(job.subscribe(3, chunk, kLong), Status::kOk);
  ASSERT_TRUE(job.opened(50));
  job.step(1, WorkPublish{chunk, job.resumed.at(50).place, 8, 1});
  ASSERT_EQ(job.messages.size(), 1u);
  EXPECT_EQ(job.messages.front().to, NodeId{3});
}

TEST(WorkTest, AStreamSurvivesTheHomeOfItsName) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 4 * kLong, .home = 3});
  job.subscribe(2, chunk, kLong);
  ASSERT_TRUE(job.put(1, chunk, 7));
  job.deliver_all();
  job.die(NodeId{0});
  job.deliver_all();
  ASSERT_TRUE(job.put(1, chunk, 8));
  job.deliver_all();
  for (std::uint64_t tag : {7u, 8u}) {
    Resume taken = job.try_take(2, chunk);
    ASSERT_EQ(taken.status, Status::kOk);
    EXPECT_EQ(taken.work.tag, tag);
    job.release(2, chunk, taken);
  }
  job.step(2, Find{"frames", false, kNever, WaiterId{60}});
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(60).chunk, chunk);
}

TEST(WorkTest, AStreamDiesWithItsHome) {
  WorkJob job(4);
  ChunkId chunk = job.stream("frames", {.capacity = 2 * kLong, .home = 3});
  job.subscribe(2, chunk, kLong);
  job.step(2, WorkTake{chunk, Wait::kBlock, kNever, WaiterId{50}});
  ASSERT_TRUE(job.put(1, chunk, 0));
  job.die(NodeId{3});
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(50).status, Status::kUnknown);
  EXPECT_EQ(job.try_write(1, chunk).status, Status::kUnknown);
  EXPECT_EQ(job.end(1, chunk), Status::kUnknown);
  job.step(2, Find{"frames", false, kNever, WaiterId{60}});
  job.deliver_all();
  EXPECT_EQ(job.resumed.at(60).status, Status::kUnknown);
}

}  // namespace
}  // namespace terrane::protocol::chunks
