#include "tools/launch/host_list.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace terrane::tools {
namespace {

using Hosts = std::vector<HostSlots>;
using Order = std::vector<std::uint32_t>;

TEST(HostListTest, NamesSlotsAndRepetitionsAreRead) {
  EXPECT_EQ(parse_host_list("a").value(), (Hosts{{"a", 1}}));
  EXPECT_EQ(parse_host_list("a,b:2,c").value(), (Hosts{{"a", 1}, {"b", 2}, {"c", 1}}));
  EXPECT_EQ(parse_host_list("a,b,a:3").value(), (Hosts{{"a", 4}, {"b", 1}}));
  EXPECT_EQ(parse_host_list("user@10.0.0.1:4,fe80::1").value(),
            (Hosts{{"user@10.0.0.1", 4}, {"fe80::1", 1}}));
}

TEST(HostListTest, WhatIsNoHostIsSaid) {
  for (const char* bad :
       {"", "a,", ",a", "a:0", "a:x", "a:2000", "a b", "-a", "a;rm", "$(a)", ":3"}) {
    auto hosts = parse_host_list(bad);
    ASSERT_FALSE(hosts.ok()) << bad;
    EXPECT_EQ(hosts.error().message.find("-H "), 0u) << bad;
  }
}

TEST(HostFileTest, TheFormOfOpenMpiIsRead) {
  const char* text =
      "# the cluster\n"
      "\n"
      "alpha slots=4\n"
      "beta slots=2 max_slots=8  # with a comment\n"
      "gamma\n"
      "  delta:3\n"
      "alpha slots=1";
  EXPECT_EQ(parse_host_file(text, "hosts").value(),
            (Hosts{{"alpha", 5}, {"beta", 2}, {"gamma", 1}, {"delta", 3}}));
}

TEST(HostFileTest, FaultsAreNamedByFileAndLine) {
  auto message = [](const char* text) { return parse_host_file(text, "my.hosts").error().message; };
  EXPECT_EQ(message("a\nb slots=0\n"), "my.hosts:2: slots=0: must be from 1 to 1024");
  EXPECT_EQ(message("a\n\nb speed=9\n"),
            "my.hosts:3: \"speed=9\" is not understood; a line is: NAME slots=N");
  EXPECT_EQ(message("a b\n"), "my.hosts:1: \"b\" is not understood; a line is: NAME slots=N");
  EXPECT_EQ(message("a*b\n"), "my.hosts:1: \"a*b\" is not the name of a host");
  EXPECT_EQ(message("# nothing\n"), "my.hosts: names no host");
  EXPECT_EQ(message(""), "my.hosts: names no host");
}

TEST(HostFileTest, AnyBytesAreReadOrRefused) {
  base::Prng random(5);
  const std::string alphabet = "ab:= #\n01slots,\t\r\0x";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint32_t i = random.below(40); i > 0; --i) {
      text += alphabet[random.below(static_cast<std::uint32_t>(alphabet.size()))];
    }
    auto hosts = parse_host_file(text, "f");
    if (hosts) {
      EXPECT_GE(total_slots(hosts.value()), hosts.value().size());
    }
  }
}

TEST(SlurmTest, CountsAreReadAsSlurmWritesThem) {
  EXPECT_EQ(parse_slurm_counts("2(x3),1"), (Order{2, 2, 2, 1}));
  EXPECT_EQ(parse_slurm_counts("4"), (Order{4}));
  for (const char* bad : {"x", "2(x", "2(x)", "2(y3)", "-1", "2,,1"}) {
    EXPECT_TRUE(parse_slurm_counts(bad).empty()) << bad;
  }
}

TEST(PlaceNodesTest, SlotsAreFilledInOrderOrInTurn) {
  Hosts hosts{{"a", 2}, {"b", 1}, {"c", 2}};
  EXPECT_EQ(place_nodes(hosts, 5, MapBy::kSlot).host_of, (Order{0, 0, 1, 2, 2}));
  EXPECT_EQ(place_nodes(hosts, 5, MapBy::kNode).host_of, (Order{0, 1, 2, 0, 2}));
  EXPECT_EQ(place_nodes(hosts, 2, MapBy::kSlot).names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(place_nodes(hosts, 3, MapBy::kSlot).names, (std::vector<std::string>{"a", "b"}));
}

TEST(PlaceNodesTest, MoreNodesThanSlotsGoRoundOnceMore) {
  Hosts hosts{{"a", 1}, {"b", 2}};
  EXPECT_EQ(place_nodes(hosts, 7, MapBy::kSlot).host_of, (Order{0, 1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(place_nodes(hosts, 5, MapBy::kNode).host_of, (Order{0, 1, 1, 0, 1}));
}

}  // namespace
}  // namespace terrane::tools
