#include "bootstrap/history.h"

#include <gtest/gtest.h>

namespace terrane::bootstrap {
namespace {

TEST(HistoryTest, WhatIsEncodedIsDecodedAlikeAndNothingElseIs) {
  History history{{Change::Kind::kCame, NodeId{4}}, {Change::Kind::kWent, NodeId{1}}};
  auto bytes = encode_history(history);
  EXPECT_EQ(decode_history(bytes, 5), history);
  EXPECT_EQ(decode_history({}, 5), History());
  EXPECT_FALSE(decode_history(bytes, 4)) << "there is no node 4";
  EXPECT_FALSE(decode_history(std::span(bytes).first(7), 5));
  bytes[0] = std::byte{3};
  EXPECT_FALSE(decode_history(bytes, 5));
}

}  // namespace
}  // namespace terrane::bootstrap
