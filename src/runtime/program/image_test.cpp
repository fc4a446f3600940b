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

}  // namespace
}  // namespace terrane::runtime
