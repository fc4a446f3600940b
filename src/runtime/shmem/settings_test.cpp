#include "runtime/shmem/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace terrane::runtime::shmem {
namespace {

TEST(SymmetricSizeTest, NumbersAndSuffixesAreRead) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"0", 0},      {"4096", 4096},  {"20m", 20971520},  {"3.1M", 3250586},  {".5m", 1 << 19},
      {"0.5k", 512}, {"20kk", 20480}, {"2G", 2ull << 30}, {"1t", 1ull << 40}, {"1e3", 1000},
  };
  for (auto [text, bytes] : cases) {
    auto size = parse_symmetric_size(text);
    ASSERT_TRUE(size) << text;
    EXPECT_EQ(size.value(), bytes) << text;
  }
}

TEST(SymmetricSizeTest, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "lots", "-1", "m", "5x", "inf", "nan", "0x10", "1e300", "99999999t"})
    EXPECT_FALSE(parse_symmetric_size(text)) << text;
}

TEST(SettingsTest, TheNewNamesWinOverTheOldOnes) {
  ::setenv("SMA_SYMMETRIC_SIZE", "1m", 1);
  EXPECT_EQ(read_settings().value().symmetric_bytes, 1u << 20);
  ::setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
  EXPECT_EQ(read_settings().value().symmetric_bytes, 2u << 20);
  ::setenv("SHMEM_SYMMETRIC_SIZE", "many", 1);
  EXPECT_NE(read_settings().error().message.find("SHMEM_SYMMETRIC_SIZE"), std::string::npos);
  ::unsetenv("SHMEM_SYMMETRIC_SIZE");
  ::unsetenv("SMA_SYMMETRIC_SIZE");
}

}  // namespace
}  // namespace terrane::runtime::shmem
