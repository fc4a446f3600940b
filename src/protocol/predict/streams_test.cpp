#include "protocol/predict/streams.h"

#include <gtest/gtest.h>

namespace terrane::protocol {
namespace {

TEST(StreamsTest, AMissGoesOnWhereAnEarlierOneEnded) {
  Streams streams;
  EXPECT_FALSE(streams.goes_on(100));
  streams.note(100, 101);
  EXPECT_TRUE(streams.goes_on(101));
  EXPECT_FALSE(streams.goes_on(100));
  EXPECT_FALSE(streams.goes_on(102));
}

TEST(StreamsTest, AStreamIsAsLongAsAllOfItsRuns) {
  Streams streams;
  streams.note(100, 101);
  streams.note(101, 117);
  streams.note(117, 133);
  EXPECT_EQ(streams.length(133), 33u);
  EXPECT_EQ(streams.length(117), 0u) << "it has gone on from there";
}

TEST(StreamsTest, TheLatestRunIsWhatTheLatestMissFetched) {
  Streams streams;
  streams.note(100, 101);
  streams.note(101, 117);
  EXPECT_EQ(streams.latest_run(117), 101u);
  streams.note(117, 133);
  EXPECT_EQ(streams.latest_run(133), 117u);
  EXPECT_EQ(streams.latest_run(50), 50u) << "no stream comes from there";
}

TEST(StreamsTest, WhatCameAheadOfAMissBelongsToItsRun) {
  Streams streams;
  streams.note(100, 101);
  streams.note(101, 117);
  streams.extend(117, 133);
  EXPECT_EQ(streams.length(133), 33u);
  EXPECT_EQ(streams.latest_run(133), 101u);
  streams.extend(117, 149);
  EXPECT_FALSE(streams.goes_on(149)) << "it stands at 133";
  streams.extend(133, 0);
  EXPECT_FALSE(streams.goes_on(133));
}

TEST(StreamsTest, AStreamEndsWithItsAllocation) {
  Streams streams;
  streams.note(100, 101);
  streams.note(101, 0);
  EXPECT_FALSE(streams.goes_on(101));
  EXPECT_FALSE(streams.goes_on(117));
}

TEST(StreamsTest, NoneGoesOnAtTheFirstBlockOfAllUnlessItEndedThere) {
  Streams streams;
  EXPECT_FALSE(streams.goes_on(0));
  streams.note(100, 101);
  streams.note(101, 0);
  EXPECT_FALSE(streams.goes_on(0));
  EXPECT_EQ(streams.asked(0), 0u);
  streams.note(0, 16);
  EXPECT_EQ(streams.length(16), 16u) << "not of the stream that is over";
  streams.extend(0, 0);
  EXPECT_FALSE(streams.goes_on(0));
}

TEST(StreamsTest, EightStreamsGoOnAtOnceAndTheOldestGivesWay) {
  Streams streams;
  for (std::uint64_t i = 1; i <= 8; ++i) streams.note(1000 * i, 1000 * i + 16);
  for (std::uint64_t i = 1; i <= 8; ++i) EXPECT_TRUE(streams.goes_on(1000 * i + 16));
  streams.note(9000, 9016);
  EXPECT_FALSE(streams.goes_on(1016));
  EXPECT_TRUE(streams.goes_on(2016));
  EXPECT_EQ(streams.asked(9016), 0u);
  streams.note_asked(9016, 9144);
  EXPECT_EQ(streams.asked(9016), 9144u);
}

TEST(StreamsTest, AStreamThatIsForgottenTellsHowLongItWas) {
  Streams streams;
  streams.note(100, 101);
  streams.note(101, 103);
  streams.note(103, 107);
  for (std::uint64_t i = 1; i < kStreams; ++i)
    EXPECT_EQ(streams.note(1000 * i, 1000 * i + 16).used, 0u) << "a place was free";
  Streams::Ended over = streams.note(9000, 9004);
  EXPECT_EQ(over.used, 4u) << "from 100 to the miss of 103";
  EXPECT_EQ(over.prefetched, 1u);
  over = streams.note(9100, 9101);
  EXPECT_EQ(over.used, 1u);
  EXPECT_EQ(over.prefetched, 16u) << "by the first miss of 1000";
}

}  // namespace
}  // namespace terrane::protocol
