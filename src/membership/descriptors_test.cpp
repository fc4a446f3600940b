#include "membership/descriptors.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <memory>

namespace terrane::membership {
namespace {

class DescriptorsTest : public testing::Test {
 protected:
  std::unique_ptr<Descriptors> own_ = std::make_unique<Descriptors>();
};

TEST_F(DescriptorsTest, AreOwnedUntilTheyAreGivenUp) {
  for (int fd : {0, 63, 64, 1000, (1 << 20) - 1}) {
    EXPECT_FALSE(own_->owns(fd));
    own_->own(fd);
    EXPECT_TRUE(own_->owns(fd));
    EXPECT_FALSE(own_->owns(fd + 1));
    own_->give_up(fd);
    EXPECT_FALSE(own_->owns(fd));
  }
}

TEST_F(DescriptorsTest, OthersAreNobodys) {
  for (int fd : {-1, 1 << 20, INT_MAX}) {
    own_->own(fd);
    EXPECT_FALSE(own_->owns(fd));
    own_->give_up(fd);
  }
}

TEST_F(DescriptorsTest, AreFoundInOrder) {
  for (int fd : {3, 64, 500}) own_->own(fd);
  EXPECT_EQ(own_->first_from(0, UINT_MAX), 3);
  EXPECT_EQ(own_->first_from(4, UINT_MAX), 64);
  EXPECT_EQ(own_->first_from(65, 500), 500);
  EXPECT_EQ(own_->first_from(65, 499), std::nullopt);
  EXPECT_EQ(own_->first_from(501, UINT_MAX), std::nullopt);
}

TEST_F(DescriptorsTest, AChildOwnsNone) {
  own_->own(5);
  pid_t child = ::fork();
  if (child == 0) ::_exit(own_->owns(5) ? 1 : 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace terrane::membership
