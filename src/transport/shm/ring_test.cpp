#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "transport/shm/ring_reader.h"
#include "transport/shm/ring_writer.h"
#include "transport/shm/test_area.h"

namespace terrane::transport::shm {
namespace {

constexpr std::uint64_t kRing = 4096;
constexpr NodeId kSender{1};

// Both ends of a small ring, in one process.
class RingTest : public ::testing::Test {
 protected:
  bool write(Gather& rest, std::uint64_t total) { return writer_.write(rest, total); }
  bool write(Bytes message) {
    Gather rest(message, {});
    return writer_.write(rest, message.size());
  }
  Frame& first_frame() { return *reinterpret_cast<Frame*>(area_.ring(kSender).data); }

  Area area_ = make_test_area({2, kRing});
  Area senders_area_ = make_test_area({2, kRing});
  RingWriter writer_{area_.ring(kSender), area_.control(), kSender};
  RingReader reader_{area_.ring(kSender), senders_area_.control()};
};

std::vector<std::byte> numbered(std::size_t bytes, std::uint64_t number) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(number * 31 + i);
  return message;
}

TEST_F(RingTest, MessagesArriveAsTheyWereSentHoweverWritesAndReadsAlternate) {
  base::Prng prng(1);
  std::deque<std::vector<std::byte>> sent;
  std::optional<Gather> rest;
  std::uint64_t total = 0;
  for (std::uint64_t step = 0, number = 0, received = 0; received < 3000; ++step) {
    ASSERT_LT(step, 1'000'000u) << "the ring is stuck";
    if (prng.chance(50)) {
      if (!rest) {
        total = prng.below(prng.chance(10) ? 20'000 : 2'500);
        sent.push_back(numbered(total, number++));
        rest.emplace(Bytes(sent.back()), Bytes{});
      }
      if (write(*rest, total)) rest.reset();
      continue;
    }
    RingReader::Found found = reader_.look();
    ASSERT_NE(found, RingReader::Found::kBroken);
    if (found == RingReader::Found::kMessage) {
      Bytes message = reader_.message();
      ASSERT_TRUE(
          std::equal(message.begin(), message.end(), sent.front().begin(), sent.front().end()));
      reader_.done();
      sent.pop_front();
      ++received;
    }
    if (prng.chance(30)) reader_.free_space();
  }
}

TEST_F(RingTest, ThreadsOnBothEndsAgree) {
  constexpr std::uint64_t kMessages = 20'000;
  std::thread sender([&] {
    for (std::uint64_t number = 0; number < kMessages; ++number) {
      auto message = numbered(number % 700, number);
      while (!write(message)) std::this_thread::yield();
    }
  });
  for (std::uint64_t number = 0; number < kMessages;) {
    RingReader::Found found = reader_.look();
    ASSERT_NE(found, RingReader::Found::kBroken);
    if (found == RingReader::Found::kMessage) {
      auto expected = numbered(number % 700, number);
      Bytes message = reader_.message();
      ASSERT_TRUE(std::equal(message.begin(), message.end(), expected.begin(), expected.end()));
      reader_.done();
      ++number;
    } else {
      reader_.free_space();
      std::this_thread::yield();
    }
  }
  sender.join();
}

TEST_F(RingTest, TheLongestWholeMessageFitsAnywhereInAnEmptyRing) {
  auto longest = numbered(RingWriter::longest_whole(kRing), 3);
  for (std::size_t filler = 0; filler < kRing; filler += kLine) {
    ASSERT_TRUE(write(longest)) << filler;
    ASSERT_EQ(reader_.look(), RingReader::Found::kMessage);
    reader_.done();
    ASSERT_TRUE(write(numbered(1, filler)));
    ASSERT_EQ(reader_.look(), RingReader::Found::kMessage);
    reader_.done();
    reader_.free_space();
  }
}

TEST_F(RingTest, AFullRingSaysWhenSpaceIsFreed) {
  auto message = numbered(100, 0);
  while (write(message)) {
  }
  EXPECT_FALSE(writer_.space_freed());
  ASSERT_EQ(reader_.look(), RingReader::Found::kMessage);
  reader_.done();
  reader_.free_space();
  EXPECT_TRUE(writer_.space_freed());
  EXPECT_TRUE(write(message));
}

TEST_F(RingTest, AMessageRingsTheBellOnlyOfAReceiverThatSleeps) {
  ControlPage& control = area_.control();
  ASSERT_TRUE(write(numbered(8, 0)));
  EXPECT_EQ(control.bell.load(), 0u);
  control.sleeping.store(1);
  ASSERT_TRUE(write(numbered(8, 1)));
  EXPECT_EQ(control.bell.load(), 1u);
  EXPECT_EQ(control.sleeping.load(), 0u);
  ASSERT_TRUE(write(numbered(8, 2)));
  EXPECT_EQ(control.bell.load(), 1u);
}

TEST_F(RingTest, WhatIsToRingLaterRingsIfItWasNotTakenUntilThen) {
  ControlPage& control = area_.control();
  auto put = [&](std::uint64_t number) {
    auto message = numbered(8, number);
    Gather rest(message, {});
    return writer_.write(rest, message.size(), Ring::kLater);
  };
  control.sleeping.store(1);
  ASSERT_TRUE(put(0));
  EXPECT_EQ(control.bell.load(), 0u);
  EXPECT_TRUE(control.arrivals.any(2));  // a thread that looks finds it
  ASSERT_EQ(reader_.look(), RingReader::Found::kMessage);
  reader_.done();
  reader_.free_space();
  writer_.ring();
  EXPECT_EQ(control.bell.load(), 0u);
  ASSERT_TRUE(put(1));
  writer_.ring();
  EXPECT_EQ(control.bell.load(), 1u);
}

TEST_F(RingTest, WhatOnlyWaitingThreadsCanUseLeavesAloneWhoSleepsBesideThem) {
  ControlPage& control = area_.control();
  control.beside.store(1);
  auto message = numbered(8, 0);
  Gather rest(message, {});
  ASSERT_TRUE(writer_.write(rest, message.size(), Ring::kLater));
  writer_.ring(Sleepers::kWaiting);
  EXPECT_EQ(control.bell.load(), 0u);
  EXPECT_EQ(control.beside.load(), 1u);
  control.sleeping.store(1);
  writer_.ring(Sleepers::kWaiting);
  EXPECT_EQ(control.bell.load(), 1u);
  EXPECT_EQ(control.beside.load(), 1u);
  ASSERT_TRUE(write(numbered(8, 1)));
  EXPECT_EQ(control.bell.load(), 2u);
  EXPECT_EQ(control.beside.load(), 0u);
}

TEST_F(RingTest, FreedSpaceRingsTheBellOfASenderThatWaitsForIt) {
  ControlPage& sender = senders_area_.control();
  auto message = numbered(100, 0);
  while (write(message)) {
  }
  sender.sleeping.store(1);
  writer_.want_space();
  ASSERT_EQ(reader_.look(), RingReader::Found::kMessage);
  reader_.done();
  EXPECT_EQ(sender.bell.load(), 0u);
  reader_.free_space();
  EXPECT_EQ(sender.bell.load(), 1u);
  EXPECT_EQ(area_.ring(kSender).control->space_wanted.load(), 0u);
}

TEST_F(RingTest, AWatchedRingSetsNoArrivalBit) {
  ASSERT_TRUE(write(numbered(8, 0)));
  EXPECT_TRUE(area_.control().arrivals.any(2));
  area_.control().arrivals.clear(kSender);
  area_.ring(kSender).control->watched.store(1);
  ASSERT_TRUE(write(numbered(8, 1)));
  EXPECT_FALSE(area_.control().arrivals.any(2));
}

TEST_F(RingTest, AMissingFrameIsNoticed) {
  ASSERT_TRUE(write(numbered(8, 0)));
  first_frame().sequence = 1;
  EXPECT_EQ(reader_.look(), RingReader::Found::kBroken);
}

TEST_F(RingTest, FramesThatMakeNoSenseAreRefused) {
  using wire::FrameKind;
  struct Case {
    FrameKind kind;
    std::uint32_t bytes;
  };
  for (Case wrong : {Case{FrameKind::kWhole, kRing}, Case{FrameKind::kFirst, 4},
                     Case{FrameKind::kMore, 10}, Case{static_cast<FrameKind>(9), 10},
                     Case{FrameKind::kNone, 10}, Case{FrameKind::kWhole, 0xffffffffu}}) {
    first_frame().sequence = 0;
    first_frame().control.store(wire::frame_control(wrong.kind, wrong.bytes));
    RingReader reader(area_.ring(kSender), senders_area_.control());
    EXPECT_EQ(reader.look(), RingReader::Found::kBroken) << static_cast<std::uint32_t>(wrong.kind);
  }
}

}  // namespace
}  // namespace terrane::transport::shm
