#include "transport/shm/peer_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace terrane::transport::shm {
namespace {

// A process that ends when asked to.
class Child {
 public:
  Child() {
    EXPECT_EQ(::pipe(pipe_), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(pipe_[1]);
      char byte;
      [[maybe_unused]] auto ended = ::read(pipe_[0], &byte, 1);
      ::_exit(0);
    }
    ::close(pipe_[0]);
  }
  ~Child() {
    ::close(pipe_[1]);
    if (!reaped_) ::waitpid(pid_, nullptr, 0);
  }
  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  void end() {
    ::close(pipe_[1]);
    pipe_[1] = -1;
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);  // stays a zombie
  }
  void reap() {
    ::waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  int pipe_[2] = {-1, -1};
  pid_t pid_ = -1;
  bool reaped_ = false;
};

TEST(PeerWatchTest, AnEndedPeerIsNamedOnce) {
  Child staying;
  Child ending;
  auto watch = PeerWatch::create(3);
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE(watch.value().add(NodeId{1}, staying.pid()).ok());
  ASSERT_TRUE(watch.value().add(NodeId{2}, ending.pid()).ok());
  EXPECT_FALSE(watch.value().news());
  EXPECT_FALSE(watch.value().take().has_value());
  ending.end();
  EXPECT_TRUE(watch.value().news());
  EXPECT_EQ(watch.value().take(), NodeId{2});
  EXPECT_FALSE(watch.value().news());
  EXPECT_FALSE(watch.value().take().has_value());
}

TEST(PeerWatchTest, APeerThatHadEndedBeforeIsNamedToo) {
  Child child;
  child.end();
  child.reap();
  auto watch = PeerWatch::create(2);
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE(watch.value().add(NodeId{1}, child.pid()).ok());
  EXPECT_EQ(watch.value().take(), NodeId{1});
  EXPECT_FALSE(watch.value().take().has_value());
}

}  // namespace
}  // namespace terrane::transport::shm
