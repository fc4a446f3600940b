#include "tools/launch/guests/invitation.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <future>

namespace terrane::tools {
namespace {

Invitation sample() {
  return {.job = "lab-1",
          .hub = {{"10.0.0.1", "fe80::1"}, 4711},
          .secret = stream::Secret::random().value(),
          .heartbeat_ms = 1000};
}

TEST(InvitationTest, WhatIsWrittenIsReadAlike) {
  Invitation one = sample();
  auto read = Invitation::parse(one.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), one.text());
  EXPECT_EQ(read->hub.addresses, one.hub.addresses);
  EXPECT_EQ(read->hub.port, 4711);
}

TEST(InvitationTest, NothingElseIsRead) {
  std::string text = sample().text();
  EXPECT_FALSE(Invitation::parse(""));
  EXPECT_FALSE(Invitation::parse(text + " more"));
  EXPECT_FALSE(Invitation::parse(text.substr(0, text.rfind(' '))));
  EXPECT_FALSE(Invitation::parse("another" + text));
  std::string port = text;
  port.replace(port.find(" 4711 "), 6, " 70000 ");
  EXPECT_FALSE(Invitation::parse(port));
}

// A process that asks is answered by a job that goes before it has said all.
TEST(InvitationTest, WhoAsksAJobThatIsEndingIsToldSo) {
  for (const char* said : {"", "hello"}) {
    std::string job = "ending-" + std::to_string(::getpid()), path = "terrane-job-" + job;
    base::UniqueFd door(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, path.data(), path.size());
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
    ASSERT_EQ(::bind(door.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(door.get(), 1), 0);
    auto answer = std::async(std::launch::async, [&] { return ask_for_invitation(job); });
    base::UniqueFd visitor(::accept(door.get(), nullptr, nullptr));
    ASSERT_GE(::send(visitor.get(), said, std::strlen(said), 0), 0);
    visitor.reset();
    std::string told = answer.get().error().message;
    EXPECT_NE(told.find(*said == '\0' ? "is ending" : "no invitation that this version"),
              std::string::npos)
        << told;
  }
}

TEST(InvitationTest, AJobHasAPlainName) {
  for (const char* good : {"lab", "1234", "a.b_c-d"}) EXPECT_TRUE(is_job_name(good)) << good;
  for (const char* bad : {"", "-a", "a b", "a/b", "\n"}) EXPECT_FALSE(is_job_name(bad)) << bad;
  EXPECT_FALSE(is_job_name(std::string(61, 'a')));
}

}  // namespace
}  // namespace terrane::tools
