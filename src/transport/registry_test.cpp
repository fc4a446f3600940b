#include <gtest/gtest.h>

#include <algorithm>

#include "transport/transport.h"

namespace terrane::transport {
namespace {

TEST(TransportRegistryTest, EveryNameMakesItsTransport) {
  for (std::string_view name : transport_names()) {
    auto factory = make_transport(name, 1);
    ASSERT_TRUE(factory.ok()) << factory.error().message;
    EXPECT_EQ(factory.value()->name(), name);
  }
}

TEST(TransportRegistryTest, AutoIsSelfForOneNodeAndShmForMore) {
  EXPECT_EQ(make_transport("auto", 1).value()->name(), "self");
  EXPECT_EQ(make_transport("auto", 2).value()->name(), "shm");
}

TEST(TransportRegistryTest, AnUnknownNameIsAnErrorThatListsTheNames) {
  auto factory = make_transport("pigeon", 2);
  ASSERT_FALSE(factory.ok());
  for (std::string_view name : transport_names()) {
    EXPECT_NE(factory.error().message.find(name), std::string::npos) << factory.error().message;
  }
}

TEST(TransportRegistryTest, AJobThatIsTooLargeIsRefusedWithAReason) {
  EXPECT_FALSE(make_transport("self", 2).value()->open(NodeId{0}, 2, {}).ok());
  EXPECT_FALSE(make_transport("shm", 1000).value()->open(NodeId{0}, 1000, {}).ok());
}

TEST(TransportRegistryTest, TooFewCardsAreRefused) {
  auto factory = std::move(make_transport("shm", 2)).value();
  auto card = factory->open(NodeId{0}, 2, {});
  ASSERT_TRUE(card.ok());
  std::vector<Card> cards;
  cards.push_back(std::move(card).value());
  EXPECT_FALSE(factory->connect(std::move(cards)).ok());
}

}  // namespace
}  // namespace terrane::transport
