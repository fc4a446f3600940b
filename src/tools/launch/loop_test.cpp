#include "tools/launch/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

namespace terrane::tools {
namespace {

class LoopTest : public testing::Test {
 protected:
  void SetUp() override { loop_ = std::move(Loop::create().value()); }

  std::unique_ptr<Loop> loop_;
};

// Both descriptors are ready in one turn; the first one closes the other, whose number then
// belongs to a new descriptor that is not ready.
TEST_F(LoopTest, ANumbersNextDescriptorDoesNotHearWhatTheOneBeforeWasTold) {
  std::array<int, 2> ready = {::eventfd(1, EFD_CLOEXEC), ::eventfd(1, EFD_CLOEXEC)};
  int handled = 0, wrongly = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(loop_->watch(ready[i], EPOLLIN, [&, i](std::uint32_t) {
      ++handled;
      int other = ready[1 - i];
      loop_->forget(other);
      ::close(other);
      ASSERT_EQ(::eventfd(0, EFD_CLOEXEC), other);
      ASSERT_TRUE(loop_->watch(other, EPOLLIN, [&](std::uint32_t) { ++wrongly; }));
    }));
  }
  loop_->turn();
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(wrongly, 0);
  for (int fd : ready) ::close(fd);
}

}  // namespace
}  // namespace terrane::tools
