#include "runtime/chunks/topology.h"

#include <gtest/gtest.h>

#include <set>

namespace terrane::runtime::chunks {
namespace {

const std::vector<std::uint32_t> kHosts{0, 0, 0, 1, 1, 2};

std::string servers_of(std::string_view text) {
  auto topology = Topology::parse(text, kHosts);
  return topology ? topology.value().describe() : topology.error().message;
}

TEST(ChunkTopologyTest, ServersAreSpreadOverHosts) {
  EXPECT_EQ(servers_of(""), "0,3,5");
  EXPECT_EQ(servers_of("1"), "0");
  EXPECT_EQ(servers_of("4"), "0,3,5,1");
  EXPECT_EQ(servers_of("5,2"), "5,2");
  EXPECT_EQ(servers_of("4,"), "4");
}

TEST(ChunkTopologyTest, WhatIsWrongIsTold) {
  for (auto [text, part] : {std::pair{"0", "1 to 6"},
                            {"7", "1 to 6"},
                            {"0,9", "no node 9"},
                            {"1,1", "twice"},
                            {"1,,2", "'' is no node"},
                            {"two", "'two'"},
                            {"1,2,", "'' is no node"},
                            {",", "'' is no node"},
                            {"-1", "'-1'"}})
    EXPECT_NE(servers_of(text).find(part), std::string::npos) << servers_of(text);
}

TEST(ChunkTopologyTest, TheLivingServersShareWhatADeadOneHad) {
  Topology topology = Topology::parse("3", kHosts).value();
  View first = topology.first_view();
  EXPECT_EQ(first.members.size(), 6u);
  EXPECT_GE(first.slots.size(), 60u);
  View second = topology.without(first, NodeId{3});
  EXPECT_EQ(second.epoch, 2u);
  EXPECT_FALSE(second.has(NodeId{3}));
  std::set<std::uint32_t> heirs;
  for (std::size_t s = 0; s < first.slots.size(); ++s) {
    bool moved = first.slots[s].home == NodeId{3};
    EXPECT_EQ(second.slots[s].since, moved ? 2u : 0u);
    if (moved) heirs.insert(second.slots[s].home.value);
    EXPECT_EQ(moved, second.slots[s].home != first.slots[s].home);
  }
  EXPECT_EQ(heirs, (std::set<std::uint32_t>{0, 5}));
  View last = topology.without(topology.without(second, NodeId{0}), NodeId{5});
  for (std::uint32_t s = 0; s < last.names; ++s) EXPECT_EQ(last.slots[s].home, NodeId{1});
}

TEST(ChunkTopologyTest, EachNodeHasASlotForChunksThatArePlacedThere) {
  Topology topology = Topology::parse("3", kHosts, 9).value();
  View first = topology.first_view();
  ASSERT_EQ(first.slots.size(), first.names + 9);
  for (std::uint32_t n = 0; n < 9; ++n) EXPECT_EQ(first.slots[first.names + n].home, NodeId{n});
  View left = topology.without(first, NodeId{4}, false);
  EXPECT_TRUE(left.has(left.slots[first.names + 4].home));
  EXPECT_EQ(left.slots[first.names + 4].since, 0u);
  View died = topology.without(first, NodeId{4});
  EXPECT_EQ(died.slots[first.names + 4].since, 2u);
  EXPECT_EQ(Topology::parse("", kHosts, 100'000).value().first_view().slots.size(), 4095u);
}

TEST(ChunkTopologyTest, ANewcomerIsAMemberAndNoServer) {
  Topology topology = Topology::parse("2", kHosts).value();
  View first = topology.first_view();
  View second = topology.with(topology.without(first, NodeId{1}), NodeId{9});
  EXPECT_EQ(second.epoch, 3u);
  EXPECT_EQ(second.members, (std::vector<NodeId>{NodeId{0}, NodeId{2}, NodeId{3}, NodeId{4},
                                                 NodeId{5}, NodeId{9}}));
  for (std::size_t s = 0; s < first.names; ++s)
    EXPECT_EQ(second.slots[s].home, first.slots[s].home);
}

}  // namespace
}  // namespace terrane::runtime::chunks
