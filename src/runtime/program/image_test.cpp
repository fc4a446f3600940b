#include "runtime/program/image.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

TEST(BuildCardTest, WhatDiffersIsSaidWithItsRemedy) {
  BuildCard card{.program = 1, .libraries = 2, .addresses = 3};
  EXPECT_EQ(card.difference(card), "");
  BuildCard other = card;
  other.addresses = 4;
  EXPECT_NE(card.difference(other).find("link with -no-pie"), std::string::npos);
  other.libraries = 4;
  EXPECT_NE(card.difference(other).find("with other versions of its libraries"), std::string::npos);
  other.program = 4;
  EXPECT_NE(card.difference(other).find("copy one file to all hosts"), std::string::npos);
}

TEST(ImageTest, OnlyLibrariesOfTheProgramNeedTheirPlace) {
  platform::Module program, transports, ours;
  transports.name = "libucp.so.0";
  ours.name = "libterrane_threads.so.0";
  auto card_with = [&](std::uintptr_t transports_at, std::uintptr_t ours_at) {
    transports.address = transports_at;
    ours.address = ours_at;
    using platform::ModuleOwner;
    return Image({program, transports, ours},
                 {ModuleOwner::kProgram, ModuleOwner::kTerrane, ModuleOwner::kTerrane})
        .card();
  };
  EXPECT_EQ(card_with(1, 2).difference(card_with(3, 2)), "");
  EXPECT_NE(card_with(1, 2).difference(card_with(1, 3)), "");
}

}  // namespace
}  // namespace terrane::runtime
