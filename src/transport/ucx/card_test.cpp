#include "transport/ucx/card.h"

#include <gtest/gtest.h>

namespace terrane::transport::ucx {
namespace {

UcxCard some_card() {
  UcxCard card;
  card.token = 42;
  card.address = {std::byte{1}, std::byte{2}, std::byte{3}};
  card.door.word.fill(std::byte{6});
  card.door.places = {{{std::byte{127}}, 80, 2}, {{std::byte{10}}, 81, 2}};
  card.regions = {{4096, 0x7f0000000000, {std::byte{4}, std::byte{5}}}, {8192, 0, {}}};
  return card;
}

TEST(UcxCardTest, ACardArrivesAsItWasSent) {
  auto card = UcxCard::decode(some_card().encode());
  ASSERT_TRUE(card.ok());
  EXPECT_EQ(card.value().token, 42u);
  EXPECT_EQ(card.value().address, some_card().address);
  EXPECT_EQ(card.value().door.word, some_card().door.word);
  EXPECT_EQ(card.value().door.places, some_card().door.places);
  ASSERT_EQ(card.value().regions.size(), 2u);
  EXPECT_EQ(card.value().regions[0].bytes, 4096u);
  EXPECT_EQ(card.value().regions[0].base, 0x7f0000000000u);
  EXPECT_EQ(card.value().regions[0].key, some_card().regions[0].key);
  EXPECT_EQ(card.value().regions[1].bytes, 8192u);
  EXPECT_TRUE(card.value().regions[1].key.empty());
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

TEST(UcxCardTest, ARegionBeyondTheEndOfMemoryIsRefused) {
  UcxCard card = some_card();
  card.regions[0].base = ~std::uint64_t{0} - 4000;
  EXPECT_FALSE(UcxCard::decode(card.encode()).ok());
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
