#include "transport/ucx/card.h"

#include <gtest/gtest.h>

namespace terrane::transport::ucx {
namespace {

UcxCard some_card() { return {42, {std::byte{1}, std::byte{2}, std::byte{3}}}; }

TEST(UcxCardTest, ACardArrivesAsItWasSent) {
  auto card = UcxCard::decode(some_card().encode());
  ASSERT_TRUE(card.ok());
  EXPECT_EQ(card.value().token, 42u);
  EXPECT_EQ(card.value().address, some_card().address);
}

TEST(UcxCardTest, ACardThatIsCutOffOrTooLongIsRefused) {
  Card whole = some_card().encode();
  for (std::size_t bytes = 0; bytes < whole.bytes.size(); ++bytes) {
    Card cut;
    cut.bytes.assign(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_FALSE(UcxCard::decode(cut).ok()) << bytes;
  }
  whole.bytes.push_back(std::byte{0});
  EXPECT_FALSE(UcxCard::decode(whole).ok());
}

TEST(UcxCardTest, AnotherVersionIsRefusedWithAReason) {
  Card card = some_card().encode();
  card.bytes[0] = std::byte{200};
  auto decoded = UcxCard::decode(card);
  ASSERT_FALSE(decoded.ok());
  EXPECT_NE(decoded.error().message.find("version"), std::string::npos);
}

}  // namespace
}  // namespace terrane::transport::ucx
