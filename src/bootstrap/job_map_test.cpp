#include "bootstrap/job_map.h"

#include <gtest/gtest.h>

#include "base/prng.h"

namespace terrane::bootstrap {
namespace {

JobMap sample() { return {{"alpha", "beta"}, {0, 0, 1}}; }

TEST(JobMapTest, WhatIsEncodedIsDecodedAlike) {
  EXPECT_EQ(decode_map(encode_map(sample())), sample());
  JobMap one = map_of_one_host(3, "");
  EXPECT_EQ(decode_map(encode_map(one)), one);
  EXPECT_EQ(sample().nodes_on(0), 2u);
  EXPECT_EQ(sample().name_of(2), "beta");
}

TEST(JobMapTest, EveryTruncationAndEveryExtraByteIsRefused) {
  auto bytes = encode_map(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_map(std::span(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_map(bytes));
}

TEST(JobMapTest, ClustersAreNumberedByTheirFirstNodes) {
  JobMap map{{"a", "b", "c"}, {0, 1, 2, 2}, 0};
  EXPECT_EQ(map.clusters_of_nodes(), (std::vector<std::uint32_t>{0, 0, 0, 0}));
  map.clusters = {"west", "unused", "east"};
  map.cluster_of = {2, 0, 2};
  map.links = {{2, 0, 1'000'000, 500'000}};
  EXPECT_EQ(decode_map(encode_map(map)), map);
  EXPECT_EQ(map.clusters_of_nodes(), (std::vector<std::uint32_t>{0, 1, 0, 0}));
  add_guests(map, 1);
  EXPECT_EQ(decode_map(encode_map(map)), map);
  auto bytes = encode_map(map);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_map(std::span(bytes).first(size))) << size;
  for (auto spoil : {+[](JobMap& m) { m.cluster_of[1] = 3; }, +[](JobMap& m) { m.links[0].to = 3; },
                     +[](JobMap& m) { m.links[0].to = 2; }, +[](JobMap& m) { m.clusters.clear(); },
                     +[](JobMap& m) { m.cluster_of.pop_back(); }}) {
    JobMap bad = map;
    spoil(bad);
    EXPECT_FALSE(is_sound(bad));
    EXPECT_FALSE(decode_map(encode_map(bad)));
  }
}

TEST(JobMapTest, ANodeOnAHostThatThereIsNotIsRefused) {
  EXPECT_FALSE(decode_map(encode_map({{"alpha"}, {0, 1}})));
  EXPECT_FALSE(decode_map(encode_map({{"alpha"}, {}})));
  EXPECT_FALSE(decode_map(encode_map({{}, {0}})));
  EXPECT_FALSE(decode_map(encode_map({{std::string(kMaxHostName + 1, 'a')}, {0}})));
  EXPECT_FALSE(decode_map(encode_map(map_of_one_host(kMaxJobNodes + 1, "a"))));
}

TEST(JobMapTest, PlacesForGuestsAreHostsOfTheirOwn) {
  JobMap map = sample();
  add_guests(map, 2);
  EXPECT_EQ(map.started(), 3u);
  EXPECT_EQ(map.started_hosts(), 2u);
  EXPECT_EQ(map.host_of, (std::vector<std::uint32_t>{0, 0, 1, 2, 3}));
  EXPECT_EQ(decode_map(encode_map(map)), map);
  map.host_of[4] = 2;
  EXPECT_FALSE(decode_map(encode_map(map)));
  map = sample();
  map.guests = 2;
  EXPECT_FALSE(decode_map(encode_map(map)));
}

TEST(JobMapTest, DamagedBytesNeverGiveAMapOverTheLimits) {
  base::Prng random(7);
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = encode_map(sample());
    for (int i = 0; i < 3; ++i) {
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] =
          static_cast<std::byte>(random.below(256));
    }
    auto map = decode_map(bytes);
    if (!map) continue;
    for (std::uint32_t host : map->host_of) ASSERT_LT(host, map->names.size());
  }
}

}  // namespace
}  // namespace terrane::bootstrap
