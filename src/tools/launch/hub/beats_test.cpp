#include "tools/launch/hub/beats.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace terrane::tools {
namespace {

constexpr std::uint64_t kLimitMs = 200, kLateLimitMs = 1000;

// Host 0 hears host 1, a process of its own that beats once and whose loop then never turns.
class BeatsTest : public testing::Test {
 protected:
  void SetUp() override {
    loop_ = Loop::create().value();
    secret_ = stream::Secret::random().value();
    ours_ = std::make_unique<Beats>(*loop_, *secret_, [this](std::uint32_t host, Silence silence) {
      silent_.emplace_back(host, silence);
    });
    ASSERT_TRUE(ours_->open());
    int ports[2];
    ASSERT_EQ(::pipe(ports), 0);
    other_ = ::fork();
    if (other_ == 0) be_other(ports[1]);
    std::uint16_t port = 0;
    ASSERT_EQ(::read(ports[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    for (int fd : ports) ::close(fd);
    ours_->start({{"127.0.0.1", ours_->port()}, {"127.0.0.1", port}}, 0, "", kLimitMs,
                 kLateLimitMs);
  }
  void TearDown() override {
    if (other_ > 0) end_other();
    ours_->stop();
  }

  void end_other() {
    ::kill(other_, SIGKILL);
    ::waitpid(std::exchange(other_, -1), nullptr, 0);
  }

  [[noreturn]] void be_other(int port_to) {
    auto loop = Loop::create().value();
    Beats beats(*loop, *secret_, [](std::uint32_t, Silence) {});
    if (!beats.open()) ::_exit(1);
    std::uint16_t port = beats.port();
    if (::write(port_to, &port, sizeof port) != sizeof port) ::_exit(1);
    beats.start({{"127.0.0.1", ours_->port()}, {"127.0.0.1", port}}, 1, "", kLimitMs, kLateLimitMs);
    for (;;) ::pause();
  }

  // For so long at least.
  void turn_for(std::uint64_t ms) {
    for (std::uint64_t end = now_ms() + ms; now_ms() < end;) loop_->turn();
  }
  void turn_until_silent() {
    while (silent_.empty()) loop_->turn();
  }

  std::unique_ptr<Loop> loop_;
  std::optional<stream::Secret> secret_;
  std::unique_ptr<Beats> ours_;
  pid_t other_ = -1;
  std::vector<std::pair<std::uint32_t, Silence>> silent_;
};

TEST_F(BeatsTest, AHostWhoseLoopDoesNotTurnStillBeats) {
  turn_for(2 * kLateLimitMs);
  EXPECT_TRUE(silent_.empty());
}

TEST_F(BeatsTest, AStoppedProcessIsLateBecauseItsKernelAnswers) {
  turn_for(kLimitMs);
  ::kill(other_, SIGSTOP);
  turn_until_silent();
  EXPECT_EQ(silent_[0].first, 1u);
  EXPECT_TRUE(silent_[0].second.answers);
  EXPECT_EQ(silent_[0].second.ms, kLateLimitMs);
}

TEST_F(BeatsTest, AProcessThatHasGoneIsDeadAfterTheLimit) {
  turn_for(kLimitMs);
  end_other();
  turn_until_silent();
  EXPECT_FALSE(silent_[0].second.answers);
  EXPECT_EQ(silent_[0].second.ms, kLimitMs);
}

TEST_F(BeatsTest, AProcessThatGoesOnInTimeIsNotReported) {
  turn_for(kLimitMs);
  for (int i = 0; i < 3; ++i) {
    ::kill(other_, SIGSTOP);
    turn_for(2 * kLimitMs);
    ::kill(other_, SIGCONT);
    turn_for(kLimitMs);
  }
  EXPECT_TRUE(silent_.empty());
}

}  // namespace
}  // namespace terrane::tools
