#include "protocol/steps/clusters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace terrane::protocol {
namespace {

TEST(ClustersTest, NodesOfOneClusterAreNumberedAsTheyCome) {
  const std::uint32_t hosts[] = {0, 1, 1, 2, 3};
  const std::uint32_t of[] = {4, 2, 2, 4, 4};
  Clusters clusters(5, hosts, of);
  EXPECT_EQ(clusters.count(), 2u);
  EXPECT_EQ(clusters.of(NodeId{0}), 0u);
  EXPECT_EQ(clusters.of(NodeId{1}), 1u);
  EXPECT_EQ(clusters.index(NodeId{4}), 2u);
  EXPECT_EQ(clusters.distance(NodeId{1}, NodeId{2}), Distance::kHost);
  EXPECT_EQ(clusters.distance(NodeId{0}, NodeId{3}), Distance::kCluster);
  EXPECT_EQ(clusters.distance(NodeId{0}, NodeId{1}), Distance::kFar);
}

// From every node each other one is reached once, by its parent, and each other cluster is entered
// once.
TEST(ClustersTest, ATreeEntersEachClusterOnce) {
  for (std::uint32_t nodes = 1; nodes <= 23; ++nodes) {
    for (std::uint32_t count = 1; count <= 3; ++count) {
      std::vector<std::uint32_t> of;
      for (std::uint32_t n = 0; n < nodes; ++n) of.push_back(n * 7 / 5 % count);
      Clusters clusters(nodes, nullptr, of.data());
      for (NodeId origin{0}; origin.value < nodes; ++origin.value) {
        std::vector<std::uint32_t> reached(nodes, 0), entered(clusters.count(), 0);
        reached[origin.value] = 1;
        for (NodeId node{0}; node.value < nodes; ++node.value) {
          std::vector<NodeId> children;
          clusters.add_children(node, origin, 2, children);
          for (NodeId child : children) {
            ++reached[child.value];
            EXPECT_EQ(clusters.parent(child, origin, 2), node);
            if (!clusters.together(node, child)) ++entered[clusters.of(child)];
          }
        }
        EXPECT_EQ(clusters.parent(origin, origin, 2), kNoNode);
        EXPECT_EQ(std::count(reached.begin(), reached.end(), 1u), nodes);
        for (std::uint32_t c = 0; c < clusters.count(); ++c)
          EXPECT_EQ(entered[c], c == clusters.of(origin) ? 0u : 1u);
      }
    }
  }
}

}  // namespace
}  // namespace terrane::protocol
