#include "tools/launch/gateways/topology_file.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace terrane::tools {
namespace {

const bootstrap::JobMap kMap{{"a", "b", "c"}, {0, 0, 0, 1, 1, 2}};

std::string fault_of(std::string_view text) {
  auto topology = parse_topology(text, "job.toml");
  return topology ? "" : topology.error().message;
}

std::string servers(std::string_view text) {
  auto topology = parse_topology(text, "job.toml");
  if (!topology) return topology.error().message;
  auto servers = servers_of(topology.value(), kMap);
  return servers ? servers.value() : servers.error().message;
}

TEST(TopologyFileTest, WhatItSaysIsRead) {
  auto topology = parse_topology(
      "nodes = 6\n"
      "memory = \"4G\"\n"
      "on_death = \"survive\"  # go on\n"
      "[[hosts]]\n"
      "name = \"a\"\n"
      "slots = 3\n"
      "[[hosts]]\n"
      "name = \"fe80::1\"\n"
      "[servers]\n"
      "per_host = 1\n"
      "hosts = [\"a\"]\n",
      "job.toml");
  ASSERT_TRUE(topology) << topology.error().message;
  const TopologyFile& said = topology.value();
  EXPECT_EQ(said.nodes->value, 6u);
  EXPECT_EQ(said.memory->value, "4G");
  EXPECT_EQ(said.on_death->value, "survive");
  EXPECT_EQ(said.hosts, (std::vector<HostSlots>{{"a", 3}, {"fe80::1", 1}}));
  EXPECT_EQ(said.servers_per_host->value, 1u);
  ASSERT_EQ(said.server_hosts.size(), 1u);
  EXPECT_EQ(said.server_hosts[0].where, "job.toml:11:10");
}

TEST(TopologyFileTest, ServersAreNodesOfTheJob) {
  EXPECT_EQ(servers(""), "");
  EXPECT_EQ(servers("[servers]\ncount = 2"), "2");
  EXPECT_EQ(servers("[servers]\nnodes = [5, 0]"), "5,0");
  EXPECT_EQ(servers("[servers]\nnodes = [4]"), "4,");
  EXPECT_EQ(servers("[servers]\nper_host = 1"), "0,3,5");
  EXPECT_EQ(servers("[servers]\nper_host = 2\nhosts = [\"b\", \"a\"]"), "3,4,0,1");
}

TEST(TopologyFileTest, FaultsOfOneKeyAreToldWithTheirPlace) {
  for (auto [text, says] : {
           std::pair{"nodes = 0", "job.toml:1:9: nodes = 0: it must be from 1 to 4096"},
           {"nodes = 5000", "job.toml:1:9: nodes = 5000: it must be from 1 to 4096"},
           {"nodes = \"4\"", "job.toml:1:9: nodes is a text; it must be a whole number from 1 to "},
           {"nodes = 1.5", "job.toml:1:9: nodes is a number with a fraction; it must be a whole "},
           {"memory = 4", "job.toml:1:10: memory is a whole number; it must be a text, such as "},
           {"memory = \"much\"", "job.toml:1:10: memory = \"much\": it must be a size such as "},
           {"on_death = \"no\"", "job.toml:1:12: on_death = \"no\": it must be \"end\" or "},
           {"on_death = true", "job.toml:1:12: on_death is true or false; it must be a text"},
           {"\nnods = 4", "job.toml:2:1: the file has no key 'nods'; it has nodes, memory, "},
           {"hosts = 3", "job.toml:1:9: hosts is a whole number; it must be tables, each begun "},
           {"hosts = []", "job.toml:1:9: hosts is an empty list; it must be tables"},
           {"hosts = [\"a\"]", "job.toml:1:10: a host is a text; it must be a table"},
           {"[[hosts]]\nslots = 2", "job.toml:1:1: a host has no name; give it: name = \"a\""},
           {"[[hosts]]\nname = 7", "job.toml:2:8: name is a whole number; it must be a text"},
           {"[[hosts]]\nname = \"a b\"", "job.toml:2:8: \"a b\" is not the name of a host"},
           {"[[hosts]]\nname = \"a\"\nslots = 0", "job.toml:3:9: slots = 0: it must be from 1 to "},
           {"[[hosts]]\nname = \"a\"\nslot = 2", "job.toml:3:1: a host has no key 'slot'; it has "},
           {"[[hosts]]\nname = \"a\"\n[[hosts]]\nname = \"a\"",
            "job.toml:4:8: host \"a\" is named twice"},
       })
    EXPECT_EQ(fault_of(text).find(says), 0u) << text << ": " << fault_of(text);
}

TEST(TopologyFileTest, FaultsOfServersAreToldWithTheirPlace) {
  for (auto [text, says] : {
           std::pair{"servers = 2", "job.toml:1:11: servers is a whole number; it must be a table"},
           {"[servers]", "job.toml:1:1: [servers] has none of count, nodes and per_host; give one"},
           {"[servers]\nper_hosts = 1", "job.toml:2:1: [servers] has no key 'per_hosts'; it has "},
           {"[servers]\ncount = 1\nper_host = 1", "job.toml:3:12: [servers] has two of count, "},
           {"[servers]\ncount = 0", "job.toml:2:9: count = 0: it must be from 1 to 4096"},
           {"[servers]\nnodes = 3", "job.toml:2:9: nodes is a whole number; it must be a list of "},
           {"[servers]\nnodes = []", "job.toml:2:9: nodes is an empty list; it must be a list of "},
           {"[servers]\nnodes = [0, -1]",
            "job.toml:2:13: a server's node = -1: it must be from 0 "},
           {"[servers]\nnodes = [\"a\"]",
            "job.toml:2:10: a server's node is a text; it must be a "},
           {"[servers]\nnodes = [1, 1]", "job.toml:2:13: node 1 is named twice"},
           {"[servers]\nper_host = 1\nhosts = \"a\"",
            "job.toml:3:9: hosts is a text; it must be a "},
           {"[servers]\nper_host = 1\nhosts = [1]", "job.toml:3:10: a server's host is a whole "},
           {"[servers]\nper_host = 1\nhosts = [\"a\", \"a\"]",
            "job.toml:3:15: host \"a\" is named "},
           {"[servers]\ncount = 1\nhosts = [\"a\"]",
            "job.toml:3:9: [servers] has hosts without per_host; add per_host = 1"},
       })
    EXPECT_EQ(fault_of(text).find(says), 0u) << text << ": " << fault_of(text);
}

TEST(TopologyFileTest, ServersThatTheJobHasNotAreToldWithTheirPlace) {
  for (auto [text, says] : {
           std::pair{"[servers]\ncount = 7", "job.toml:2:9: count = 7: the job has 6 nodes"},
           {"[servers]\nnodes = [0, 6]", "job.toml:2:13: there is no node 6: the job has 6 nodes"},
           {"[servers]\nper_host = 2", "job.toml:2:12: per_host = 2, but host \"c\" has 1 of the "},
           {"[servers]\nper_host = 1\nhosts = [\"z\"]",
            "job.toml:3:10: the job has no node on host \"z\"; its hosts are a, b, c"},
       })
    EXPECT_EQ(servers(text).find(says), 0u) << text << ": " << servers(text);
}

// The map's clusters by host, or the fault.
std::string clusters(std::string_view text) {
  auto topology = parse_topology(text, "job.toml");
  if (!topology) return topology.error().message;
  bootstrap::JobMap map = kMap;
  auto formed = form_clusters(topology.value().clusters, topology.value().links, map);
  if (!formed) return formed.error().message;
  std::string out;
  for (std::uint32_t host = 0; host < map.names.size(); ++host)
    out += map.clusters.empty() ? "-" : map.clusters[map.cluster_of_host(host)];
  for (const auto& link : map.links)
    out += fmt::format(" {}-{} {} {}", link.from, link.to, link.bytes_a_second, link.latency_ns);
  return out;
}

constexpr std::string_view kWestAndEast =
    "[[clusters]]\nname = \"W\"\nhosts = [\"a\", \"c\"]\n"
    "[[clusters]]\nname = \"E\"\nhosts = [\"b\", \"d\"]\n";

TEST(TopologyFileTest, ClustersAndLinksAreRead) {
  std::string text(kWestAndEast);
  EXPECT_EQ(clusters(""), "---");
  EXPECT_EQ(clusters(text), "WEW");
  EXPECT_EQ(clusters(text + "[[links]]\nbetween = [\"E\", \"W\"]\nbandwidth = \"10gbit\"\n"
                            "latency = \"0.5ms\"\n"),
            "WEW 1-0 1250000000 500000");
}

TEST(TopologyFileTest, WrongClustersAreToldWithTheirPlace) {
  std::string text(kWestAndEast);
  const std::pair<std::string, std::string> wrong[] = {
      {"[[clusters]]\nname = \"W\"\nhosts = [\"a\", \"b\"]\n",
       "job.toml:2:8: host \"c\" is in no cluster; add it to one of W"},
      {text + "[[clusters]]\nname = \"S\"\nhosts = [\"a\"]\n",
       "job.toml:9:10: host \"a\" is in cluster \"W\" already (job.toml:3:10); leave it in one"},
      {text + "[[clusters]]\nname = \"W\"\nhosts = [\"f\"]\n",
       "job.toml:8:8: cluster \"W\" is there twice; give it all its hosts once"},
      {text + "[[clusters]]\nhosts = [\"f\"]\n",
       "job.toml:7:1: a cluster has no name; give it: name = \"west\""},
      {text + "[[links]]\nbetween = [\"W\", \"N\"]\n",
       "job.toml:8:17: there is no cluster \"N\"; the file has W, E"},
      {text + "[[links]]\nbetween = [\"W\"]\n",
       "job.toml:8:11: a link is between 2 clusters, not 1"},
      {text + "[[links]]\nbetween = [\"W\", \"E\"]\nbandwidth = \"0gbit\"\n",
       "job.toml:9:13: bandwidth = \"0gbit\": it must be a number above 0 and a unit (kbit, mbit, "
       "gbit, K, M, G), such as \"10gbit\""},
      {text + "[[links]]\nbetween = [\"W\", \"E\"]\nlatency = 1\n",
       "job.toml:9:11: latency is a whole number; it must be a text, such as \"1ms\""},
      {text + "[[links]]\nbetween = [\"W\", \"E\"]\n[[links]]\nbetween = [\"E\", \"W\"]\n",
       "job.toml:10:12: the link between \"E\" and \"W\" is there twice (job.toml:8:12)"}};
  for (const auto& [written, says] : wrong) EXPECT_EQ(clusters(written), says);
}

TEST(TopologyFileTest, ClustersOfTheCommandLineAreRead) {
  auto read = parse_clusters("w:a,c/e:b");
  ASSERT_TRUE(read) << read.error().message;
  bootstrap::JobMap map = kMap;
  ASSERT_TRUE(form_clusters(read.value(), {}, map));
  EXPECT_EQ(map.clusters_of_nodes(), (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 0}));
  for (const char* bad : {"w", "w:", ":a", "w:a/w:b", "w:a b"})
    EXPECT_FALSE(parse_clusters(bad)) << bad;
  EXPECT_EQ(parse_clusters("w:a/e/x:b").error().message,
            "--clusters w:a/e/x:b: 'e' is no cluster and hosts; write a:h0,h1/b:h2,h3");
  for (const char* bad : {"w:a/e:b", "w:a,b/e:b,c"}) {
    map = kMap;
    EXPECT_FALSE(form_clusters(parse_clusters(bad).value(), {}, map)) << bad;
  }
}

TEST(TopologyFileTest, WhatIsNoTomlIsToldWithItsPlace) {
  for (const char* text :
       {"nodes 4", "nodes = ", "[servers", "nodes = 1\nnodes = 2", "memory = \"4G"})
    EXPECT_EQ(fault_of(text).find("job.toml:"), 0u) << text << ": " << fault_of(text);
}

TEST(TopologyFileTest, AnyBytesAreReadOrRefused) {
  base::Prng random(7);
  const std::string words[] = {"nodes",     " = ",
                               "[servers]", "[[hosts]]",
                               "\n",        "per_host",
                               "1",         "\"a\"",
                               "[",         "]",
                               "hosts",     "name",
                               "{",         "}",
                               ",",         "-",
                               "count",     "\xff",
                               "memory",    "0x",
                               "#",         "[[clusters]]",
                               "[[links]]", "between",
                               "latency"};
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::uint32_t i = random.below(14); i > 0; --i)
      text += words[random.below(static_cast<std::uint32_t>(std::size(words)))];
    auto topology = parse_topology(text, "job.toml");
    if (topology) {
      [[maybe_unused]] auto servers = servers_of(topology.value(), kMap);
    } else {
      EXPECT_EQ(topology.error().message.find("job.toml:"), 0u) << text;
    }
  }
}

}  // namespace
}  // namespace terrane::tools
