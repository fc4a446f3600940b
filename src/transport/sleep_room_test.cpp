#include "transport/sleep_room.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace terrane::transport {
namespace {

constexpr std::uint64_t kLong_ns = 600'000'000'000;

// Has news when it is set so, and counts how often it is asked.
class Told final : public NewsSource {
 public:
  bool look() override {
    looks.fetch_add(1);
    return news.load();
  }
  bool arm() override { return true; }

  std::atomic<std::uint64_t> looks{0};
  std::atomic<bool> news{false};
};

class SleepRoomTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(SleepRoom::create(room_));
    ASSERT_EQ(::pipe2(pipe_, O_CLOEXEC), 0);
    ASSERT_TRUE(room_.watch(source_, pipe_[0]));
  }
  void TearDown() override {
    join();
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  void fall_asleep(std::uint64_t patience_ns = 0) {
    sleepers_.emplace_back([this, patience_ns] {
      room_.sleep(kLong_ns, patience_ns);
      woken_.fetch_add(1);
    });
  }
  void sleep_in_threads(int threads) {
    for (int i = 0; i < threads; ++i) fall_asleep();
    while (source_.looks.load() < static_cast<std::uint64_t>(threads)) std::this_thread::yield();
  }
  // Until all have woken.
  void join() {
    for (std::thread& sleeper : sleepers_) sleeper.join();
    sleepers_.clear();
  }
  void wait_for_looks(std::uint64_t looks) {
    while (source_.looks.load() < looks) std::this_thread::yield();
  }

  SleepRoom room_;
  Told source_;
  int pipe_[2] = {-1, -1};
  std::atomic<int> woken_{0};
  std::vector<std::thread> sleepers_;
};

TEST_F(SleepRoomTest, ABellThatIsRungForNothingWakesEachSleeperOnce) {
  sleep_in_threads(3);
  room_.ring();
  wait_for_looks(6);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(source_.looks.load(), 8u) << "one that fell asleep after it was rung for looks again";
  EXPECT_EQ(woken_.load(), 0);
  room_.interrupt();
}

TEST_F(SleepRoomTest, ARingTellsAllOfNewsThatNoDescriptorTells) {
  sleep_in_threads(3);
  source_.news.store(true);
  room_.ring();
  join();
  EXPECT_EQ(woken_.load(), 3);
}

TEST_F(SleepRoomTest, ADescriptorWakesWhoLooksAndFindsNews) {
  sleep_in_threads(2);
  source_.news.store(true);
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  join();
  EXPECT_EQ(woken_.load(), 2);
}

TEST_F(SleepRoomTest, APatientSleeperIsWokenByNoDescriptor) {
  fall_asleep(kLong_ns);
  wait_for_looks(1);
  source_.news.store(true);
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(woken_.load(), 0);
  room_.interrupt();
}

TEST_F(SleepRoomTest, APatientSleeperLooksByItself) {
  fall_asleep(1'000'000);
  wait_for_looks(3);
  source_.news.store(true);
  join();
  EXPECT_EQ(woken_.load(), 1);
}

// Nothing is hidden from a patient sleeper; a sleeper that comes after it must neither see what the
// attending thread takes, nor miss what comes later.
TEST_F(SleepRoomTest, WhoFallsAsleepWhileAThreadAttendsIsWokenAfterwards) {
  fall_asleep(kLong_ns);
  wait_for_looks(1);
  room_.attend();
  fall_asleep();
  source_.news.store(true);
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(woken_.load(), 0);
  room_.unattend();
  while (woken_.load() == 0) std::this_thread::yield();
  EXPECT_EQ(woken_.load(), 1);
  room_.interrupt();
}

TEST_F(SleepRoomTest, AnInterruptEndsEverySleepAlsoWithoutABed) {
  sleep_in_threads(140);
  room_.interrupt();
}

TEST_F(SleepRoomTest, WithoutDescriptorsForBellsSleepersLookAgain) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int lowest = ::fcntl(pipe_[0], F_DUPFD_CLOEXEC, 0);
  ASSERT_GE(lowest, 0);
  ::close(lowest);
  rlimit none{.rlim_cur = static_cast<rlim_t>(lowest), .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  sleep_in_threads(2);
  room_.interrupt();
  join();
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(woken_.load(), 2);
}

}  // namespace
}  // namespace terrane::transport
