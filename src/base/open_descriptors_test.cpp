#include "base/open_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace terrane::base {
namespace {

bool closes_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

TEST(OpenDescriptorsTest, LaterSocketsAreClosedAndNothingElse) {
  int before = ::socket(AF_UNIX, SOCK_STREAM, 0);
  OpenDescriptors open;
  int later = ::socket(AF_UNIX, SOCK_STREAM, 0);
  int file = ::open("/dev/null", O_RDONLY);
  open.own_later_ones_and_close_on_exec();
  EXPECT_FALSE(closes_on_exec(before));
  EXPECT_TRUE(closes_on_exec(later));
  EXPECT_FALSE(closes_on_exec(file));
  for (int fd : {before, later, file}) ::close(fd);
}

}  // namespace
}  // namespace terrane::base
