#include "transport/ucx/free_port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <string>

#include "base/unique_fd.h"

namespace terrane::transport::ucx {
namespace {

class FreePortTest : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("UCX_TCP_PORT_RANGE"); }

  // A port that is taken as long as the test runs.
  unsigned take() {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    socklen_t size = sizeof place;
    auto* address = reinterpret_cast<sockaddr*>(&place);
    EXPECT_EQ(::bind(listener_.get(), address, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), address, &size), 0);
    return ntohs(place.sin_port);
  }
  static base::Result<> check(const std::string& range) {
    ::setenv("UCX_TCP_PORT_RANGE", range.c_str(), 1);
    return check_free_port();
  }

 private:
  base::UniqueFd listener_;
};

TEST_F(FreePortTest, ATakenRangeIsRefusedWithItsMend) {
  unsigned port = take();
  std::string range = std::to_string(port);
  auto checked = check(range + "-" + range);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("no port from " + range), std::string::npos);
  EXPECT_NE(checked.error().message.find("--port LOW-HIGH"), std::string::npos);
  EXPECT_TRUE(check("1024-" + range).ok()) << "others are free";
}

TEST_F(FreePortTest, WithoutARangeThereIsNothingToCheck) {
  ::unsetenv("UCX_TCP_PORT_RANGE");
  EXPECT_TRUE(check_free_port().ok());
  for (const char* range : {"0", "0-0", "auto", ""}) EXPECT_TRUE(check(range).ok()) << range;
}

}  // namespace
}  // namespace terrane::transport::ucx
