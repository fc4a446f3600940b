// Chunks whose home is where their creator chose.
#include <gtest/gtest.h>

#include "protocol/chunks/chunk_job.h"

namespace terrane::protocol::chunks {
namespace {

using Unplaced = Create::Unplaced;

class ChunkPlaceTest : public testing::Test {
 protected:
  ChunkPlaceTest() { job_.give_slots(); }

  // The status with which the thread is resumed; kDied: it still waits.
  Status create(std::uint32_t node, std::uint32_t home, std::uint32_t waiter,
                Unplaced unplaced = Unplaced::kTell) {
    job_.resumed.erase(waiter);
    job_.step(node, Create{.name = "a",
                           .bytes = ChunkJob::kBytes,
                           .coherence = Coherence::kStream,
                           .waiter = WaiterId{waiter},
                           .home = home,
                           .unplaced = unplaced});
    job_.deliver_all();
    return answer(waiter);
  }
  Status answer(std::uint32_t waiter) const {
    return job_.resumed.contains(waiter) ? job_.resumed.at(waiter).status : Status::kDied;
  }
  std::uint64_t slot(std::uint32_t waiter) const {
    return job_.resumed.at(waiter).chunk.value >> kSlotShift;
  }

  ChunkJob job_{4, 2};  // node slots begin at 2
};

TEST_F(ChunkPlaceTest, TheFirstCreatorSaysWhereTheHomeIs) {
  EXPECT_EQ(create(1, 3, 1), Status::kOk);
  EXPECT_EQ(slot(1), 2u + 3);
  EXPECT_EQ(create(2, kHomeByName, 2), Status::kExisted);
  EXPECT_EQ(job_.resumed.at(2).chunk, job_.resumed.at(1).chunk);
  job_.step(0, Find{"a", true, kNever, WaiterId{3}});
  job_.deliver_all();
  EXPECT_EQ(job_.resumed.at(3).chunk, job_.resumed.at(1).chunk);
}

TEST_F(ChunkPlaceTest, ANodeThatIsNotInTheJobIsNoHome) {
  EXPECT_EQ(create(1, 9, 1), Status::kUnknown);
  EXPECT_EQ(create(1, kHomeByName, 1), Status::kOk);
}

TEST_F(ChunkPlaceTest, TheFirstSubscriberBecomesTheHomeOfAChunkThatWaitsForIt) {
  EXPECT_EQ(create(0, kHomeAtFirst, 1), Status::kUnplaced);
  EXPECT_EQ(create(1, kHomeAtFirst, 2, Unplaced::kWait), Status::kDied);
  EXPECT_EQ(create(2, kHomeAtFirst, 3, Unplaced::kHere), Status::kOk);
  EXPECT_EQ(slot(3), 2u + 2);
  EXPECT_EQ(answer(2), Status::kExisted);
  EXPECT_EQ(create(3, kHomeAtFirst, 4, Unplaced::kHere), Status::kExisted);
  EXPECT_EQ(slot(4), 2u + 2);
}

TEST_F(ChunkPlaceTest, AFindOfAChunkThatHasNoHomeIsTold) {
  job_.step(3, Find{"a", true, kNever, WaiterId{1}});
  EXPECT_EQ(create(0, kHomeAtFirst, 2), Status::kUnplaced);
  EXPECT_EQ(answer(1), Status::kUnplaced);
  EXPECT_EQ(job_.resumed.at(1).changed.bytes, ChunkJob::kBytes);
  EXPECT_EQ(job_.resumed.at(1).version, static_cast<std::uint64_t>(Coherence::kStream));
}

TEST_F(ChunkPlaceTest, ANewHomeOfTheNameHearsWhereTheChunkIs) {
  ASSERT_EQ(create(2, 3, 1), Status::kOk);
  NodeId by_name = job_.home_of_name("a");
  job_.die(by_name);
  job_.deliver_all();
  std::uint32_t asker = by_name == NodeId{1} ? 2 : 1;
  EXPECT_EQ(create(asker, kHomeByName, 2), Status::kExisted);
  EXPECT_EQ(job_.resumed.at(2).chunk, job_.resumed.at(1).chunk);
}

TEST_F(ChunkPlaceTest, AVersionGoesFromItsWriterToAHomeThatSubscribesAndNoFurther) {
  ASSERT_EQ(create(1, 3, 1), Status::kOk);
  ASSERT_EQ(create(3, 3, 2), Status::kExisted);
  ChunkId chunk = job_.resumed.at(1).chunk;
  job_.subscribe(3, chunk, Policy::kBlock, 2);
  job_.open(1, chunk, Mode::kWrite, 3);
  job_.deliver_all();
  ASSERT_TRUE(job_.opened(3));
  job_.close(1, chunk, Mode::kWrite, 3);
  EXPECT_EQ(job_.deliver_all(), 2) << "the version, and the credit for the next one";
}

}  // namespace
}  // namespace terrane::protocol::chunks
