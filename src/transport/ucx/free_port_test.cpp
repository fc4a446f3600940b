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
  static base::Result<> check(const std::string& range, std::chrono::milliseconds limit = {}) {
    ::setenv("UCX_TCP_PORT_RANGE", range.c_str(), 1);
    return await_free_port(limit);
  }
  // A port on which a connection has been closed, which nobody has.
  unsigned leave() {
    unsigned port = take();
    base::UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    base::UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char byte;
    EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 0) << "the listening side has closed first";
    listener_.reset();
    return port;
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

TEST_F(FreePortTest, APortThatConnectionsHaveLeftIsWaitedFor) {
  std::string range = std::to_string(leave());
  EXPECT_FALSE(check(range + "-" + range).ok()) << "UCX would not get it";
  testing::internal::CaptureStderr();
  EXPECT_FALSE(check(range + "-" + range, std::chrono::milliseconds{500}).ok());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("connections that have just ended"),
            std::string::npos);
}

TEST_F(FreePortTest, WithoutARangeThereIsNothingToCheck) {
  ::unsetenv("UCX_TCP_PORT_RANGE");
  EXPECT_TRUE(await_free_port({}).ok());
  for (const char* range : {"0", "0-0", "auto", ""}) EXPECT_TRUE(check(range).ok()) << range;
}

}  // namespace
}  // namespace terrane::transport::ucx
