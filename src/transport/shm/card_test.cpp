#include "transport/shm/card.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace terrane::transport::shm {
namespace {

UniqueFd memfd() { return UniqueFd(platform::create_memfd(4096, "card-test").value()); }

Card make_card(UniqueFd& region) {
  ExportedRegion regions[] = {{region.get(), 4096}, {region.get(), 8192}};
  auto card = ShmCard::of_this_process({3, 4096}, memfd(), regions);
  EXPECT_TRUE(card.ok());
  return std::move(card).value().encode();
}

bool is_open(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0;
}

TEST(ShmCardTest, WhatIsEncodedIsDecoded) {
  UniqueFd region = memfd();
  auto decoded = ShmCard::decode(make_card(region));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const ShmCard& card = decoded.value();
  EXPECT_EQ(card.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(card.shape.nodes, 3u);
  EXPECT_EQ(card.shape.ring_bytes, 4096u);
  ASSERT_EQ(card.regions.size(), 2u);
  EXPECT_EQ(card.regions[1].bytes, 8192u);
  EXPECT_NE(card.regions[0].fd.get(), region.get()) << "the exporter keeps its own descriptor";
}

TEST(ShmCardTest, ACardCutAnywhereIsRefusedAndItsDescriptorsAreClosed) {
  UniqueFd region = memfd();
  std::size_t whole = make_card(region).bytes.size();
  for (std::size_t bytes = 0; bytes < whole; ++bytes) {
    Card card = make_card(region);
    card.bytes.resize(bytes);
    std::vector<int> fds = card.fds;
    EXPECT_FALSE(ShmCard::decode(std::move(card)).ok()) << bytes;
    for (int fd : fds) EXPECT_FALSE(is_open(fd));
  }
}

TEST(ShmCardTest, ACardWithoutItsDescriptorsIsRefused) {
  UniqueFd region = memfd();
  Card card = make_card(region);
  ::close(card.fds.back());
  card.fds.pop_back();
  EXPECT_FALSE(ShmCard::decode(std::move(card)).ok());
}

TEST(ShmCardTest, AClosedRegionIsAnErrorThatSaysSo) {
  ExportedRegion regions[] = {{-1, 4096}};
  auto card = ShmCard::of_this_process({3, 4096}, memfd(), regions);
  ASSERT_FALSE(card.ok());
  EXPECT_NE(card.error().message.find("region"), std::string::npos);
}

}  // namespace
}  // namespace terrane::transport::shm
