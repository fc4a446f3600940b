#include "tools/launch/ports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstdlib>

#include "base/unique_fd.h"

namespace terrane::tools {
namespace {

base::UniqueFd socket_here() { return base::UniqueFd(::socket(AF_INET, SOCK_STREAM, 0)); }

sockaddr_storage loopback() {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  ipv4.sin_family = AF_INET;
  ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t port_of(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

TEST(PortsTest, ARangeIsTwoNumbersOrOne) {
  auto range = parse_ports("--port", "40000-40999");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range.value().text(), "40000-40999");
  auto one = parse_ports("--port", "50000");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value().text(), "50000-50000");
  for (const char* wrong : {"", "-", "4000-", "-5000", "5000-4000", "80-90", "40000-70000", "a-b",
                            "40000-40010x", "40000-40010-1"}) {
    auto refused = parse_ports("--port", wrong);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_NE(refused.error().message.find("--port"), std::string::npos);
    EXPECT_NE(refused.error().message.find("40000-40999"), std::string::npos);
  }
}

TEST(PortsTest, ASocketTakesTheFirstFreePortOfTheRange) {
  base::UniqueFd any = socket_here();
  ASSERT_TRUE(bind_in(any.get(), loopback(), {}));
  std::uint16_t taken = port_of(any.get());
  base::UniqueFd none = socket_here();
  EXPECT_FALSE(bind_in(none.get(), loopback(), {taken, taken}));
  EXPECT_EQ(errno, EADDRINUSE);
  std::string sentence = cannot_listen("cannot listen", {taken, taken}).message;
  EXPECT_NE(sentence.find("no port from"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("--port LOW-HIGH"), std::string::npos) << sentence;
  auto high = static_cast<std::uint16_t>(std::min(65535, taken + 100));
  base::UniqueFd next = socket_here();
  if (high > taken && bind_in(next.get(), loopback(), {taken, high})) {
    EXPECT_GT(port_of(next.get()), taken);
    EXPECT_LE(port_of(next.get()), high);
  }
}

TEST(PortsTest, TheEnvironmentNamesTheRangeOfAJob) {
  ::unsetenv(kPortsVariable);
  EXPECT_TRUE(ports_of_environment().is_any());
  ::setenv(kPortsVariable, "41000-41001", 1);
  EXPECT_EQ(ports_of_environment().text(), "41000-41001");
  ::setenv(kPortsVariable, "nonsense", 1);
  EXPECT_TRUE(ports_of_environment().is_any());
  ::unsetenv(kPortsVariable);
}

}  // namespace
}  // namespace terrane::tools
