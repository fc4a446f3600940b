#include "tools/launch/guests/introduction.h"

#include <gtest/gtest.h>

#include "tools/launch/codec.h"

namespace terrane::tools {
namespace {

TEST(IntroductionTest, OneBuildOnTwoHostsMayRunAJob) {
  Introduction mine = introduce_ourselves();
  EXPECT_TRUE(compare_introductions(mine, mine, "beta").ok());
}

TEST(IntroductionTest, WhatDiffersIsNamedWithTheHostAndWhatMendsIt) {
  Introduction mine = introduce_ourselves(), other = mine;
  other.version = "9.9.9";
  other.path = "/opt/terrane/bin/terrane";
  auto version = compare_introductions(mine, other, "beta");
  ASSERT_FALSE(version.ok());
  EXPECT_EQ(version.error().message,
            "host beta runs Terrane 9.9.9 (/opt/terrane/bin/terrane), this host " + mine.version +
                "; install one version on all hosts, or name its folder there: --prefix FOLDER");
  other = mine;
  other.machine = "riscv64";
  auto machine = compare_introductions(mine, other, "beta");
  ASSERT_FALSE(machine.ok());
  EXPECT_NE(machine.error().message.find("host beta has processors of another architecture"),
            std::string::npos);
}

TEST(IntroductionTest, HostsMayBeOfTwoArchitecturesThatGoTogether) {
  Introduction mine = introduce_ourselves();
  mine.machine = "x86_64";
  for (bool joins : {false, true})
    for (auto [machine, goes] : {std::pair{"aarch64", true}, {"riscv64", false}}) {
      Introduction other = mine;
      other.machine = machine;
      other.joins = joins;
      EXPECT_EQ(compare_introductions(mine, other, "beta").ok(), goes) << machine << joins;
    }
}

TEST(IntroductionTest, AnEngineThatKnowsItsIndexIsThatHostOnce) {
  std::vector<std::string> names{"a", "b"};
  Introduction guest{.host_name = "a", .host = 1};
  EXPECT_EQ(match_host(guest, names, {false, false}), 1);
  EXPECT_EQ(match_host(guest, names, {false, true}), -1);
  guest.host = 2;
  EXPECT_EQ(match_host(guest, names, {false, false}), -1);
}

TEST(IntroductionTest, OtherwiseNameThenRankThenOrderDecide) {
  std::vector<std::string> names{"a.example", "b", "10.0.0.3"};
  EXPECT_EQ(match_host({.host_name = "b"}, names, {false, false, false}), 1);
  EXPECT_EQ(match_host({.host_name = "a"}, names, {false, false, false}), 0);
  EXPECT_EQ(match_host({.host_name = "b.example"}, names, {false, false, false}), 1);
  EXPECT_EQ(match_host({.host_name = "c", .rank = 2}, names, {false, false, false}), 2);
  EXPECT_EQ(match_host({.host_name = "c", .rank = 7}, names, {true, false, false}), 1);
  EXPECT_EQ(match_host({.host_name = "c"}, names, {true, true, true}), -1);
}

}  // namespace
}  // namespace terrane::tools
