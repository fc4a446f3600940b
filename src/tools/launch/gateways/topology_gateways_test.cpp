#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "tools/launch/gateways/topology_file.h"

namespace terrane::tools {
namespace {

constexpr std::string_view kWestAndEast =
    "[[clusters]]\nname = \"W\"\nhosts = [\"a\"]\n[[clusters]]\nname = \"E\"\nhosts = [\"b\"]\n";

bootstrap::JobMap map_of_west_and_east() {
  return {.names = {"a", "b"}, .host_of = {0, 1}, .clusters = {"W", "E"}, .cluster_of = {0, 1}};
}

// What the file says of the gateways of a job on hosts a and b, or what is wrong.
std::string gateways(const std::string& text) {
  auto topology = parse_topology(text, "job.toml");
  if (!topology) return topology.error().message;
  auto formed = form_gateways(topology.value().gateways, map_of_west_and_east());
  if (!formed) return formed.error().message;
  std::string all;
  for (const GatewayPlan& plan : formed.value())
    all +=
        fmt::format("{}{} in {} at {} {}:{}", all.empty() ? "" : "; ", plan.name, plan.cluster,
                    plan.host.empty() ? "(by hand)" : plan.host, plan.link_address, plan.link_port);
  return all;
}

std::string with_clusters(std::string_view text) { return std::string(kWestAndEast).append(text); }

TEST(TopologyGatewaysTest, GatewaysAreRead) {
  EXPECT_EQ(gateways(with_clusters("")), "");
  EXPECT_EQ(
      gateways(with_clusters("[[gateways]]\ncluster = \"W\"\nhost = \"g\"\n"
                             "address = \"192.0.2.1\"\nport = 7100\n"
                             "[[gateways]]\ncluster = \"E\"\nby_hand = true\nname = \"e1\"\n")),
      "g in 0 at g 192.0.2.1:7100; e1 in 1 at (by hand) :0");
}

TEST(TopologyGatewaysTest, WrongGatewaysAreToldWithTheirPlace) {
  const std::string west = "[[gateways]]\ncluster = \"W\"\nhost = \"g\"\n";
  const std::pair<std::string, std::string> wrong[] = {
      {west, "job.toml:8:11: cluster \"E\" has no gateway; add one to it"},
      {"[[gateways]]\nhost = \"g\"\n",
       "job.toml:7:1: a gateway has no cluster; give it: cluster = \"west\""},
      {"[[gateways]]\ncluster = \"N\"\nhost = \"g\"\n",
       "job.toml:8:11: there is no cluster \"N\"; there are W, E"},
      {"[[gateways]]\ncluster = \"W\"\n",
       "job.toml:7:1: a gateway has either host = \"gw1\", where it is started, or by_hand = true"},
      {"[[gateways]]\ncluster = \"W\"\nhost = \"g\"\nby_hand = true\n",
       "job.toml:7:1: a gateway has either host = \"gw1\", where it is started, or by_hand = true"},
      {"[[gateways]]\ncluster = \"W\"\nby_hand = true\n",
       "job.toml:7:1: a gateway that is started by hand has a name: name = \"gw1\""},
      {west + west,
       "job.toml:12:8: gateway \"g\" is there already (job.toml:9:8); give it another "
       "name"},
      {west + "port = 0\n", "job.toml:10:8: port = 0: it must be from 1 to 65535"},
      {west + "port = 70000\n", "job.toml:10:8: port = 70000: it must be from 1 to 65535"},
      {west + "speed = 1\n",
       "job.toml:10:1: a gateway has no key 'speed'; it has cluster, host, "
       "name, by_hand, address, port"}};
  for (const auto& [text, sentence] : wrong)
    EXPECT_EQ(gateways(with_clusters(text)), sentence) << text;
}

TEST(TopologyGatewaysTest, GatewaysOfTheCommandLineAreRead) {
  auto said = parse_gateways("W:g0,g1/E:g2");
  ASSERT_TRUE(said);
  auto formed = form_gateways(said.value(), map_of_west_and_east());
  ASSERT_TRUE(formed);
  ASSERT_EQ(formed.value().size(), 3u);
  EXPECT_EQ(formed.value()[2].host, "g2");
  EXPECT_EQ(formed.value()[2].cluster, 1u);
  for (const char* bad : {"W", "W:", ":g0", "W:g0/E:g0", "W:g 0"})
    EXPECT_FALSE(parse_gateways(bad)) << bad;
  auto without_clusters = form_gateways(said.value(), {.names = {"a"}, .host_of = {0}});
  ASSERT_FALSE(without_clusters);
  EXPECT_EQ(without_clusters.error().message,
            "--gateways: gateways join clusters, and there are none; add [[clusters]] or "
            "--clusters");
}

}  // namespace
}  // namespace terrane::tools
