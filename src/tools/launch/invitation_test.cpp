#include "tools/launch/invitation.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

Invitation sample() {
  return {.job = "lab-1",
          .hub = {{"10.0.0.1", "fe80::1"}, 4711},
          .secret = Secret::random().value(),
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

TEST(InvitationTest, AJobHasAPlainName) {
  for (const char* good : {"lab", "1234", "a.b_c-d"}) EXPECT_TRUE(is_job_name(good)) << good;
  for (const char* bad : {"", "-a", "a b", "a/b", "\n"}) EXPECT_FALSE(is_job_name(bad)) << bad;
  EXPECT_FALSE(is_job_name(std::string(61, 'a')));
}

}  // namespace
}  // namespace terrane::tools
