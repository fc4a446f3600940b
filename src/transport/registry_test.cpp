#include <gtest/gtest.h>

#include <algorithm>

#include "transport/transport.h"

namespace terrane::transport {
namespace {

Placement alone() { return Placement::on_one_host(NodeId{0}, 1); }
Placement pair() { return Placement::on_one_host(NodeId{0}, 2); }

TEST(TransportRegistryTest, EveryNameMakesItsTransport) {
  for (std::string_view name : transport_names()) {
    auto factory = make_transport(name, alone());
    ASSERT_TRUE(factory.ok()) << factory.error().message;
    EXPECT_EQ(factory.value()->name(), name);
  }
}

TEST(TransportRegistryTest, AutoIsByWhereTheNodesAre) {
  EXPECT_EQ(make_transport("auto", alone()).value()->name(), "self");
  EXPECT_EQ(make_transport("auto", pair()).value()->name(), "shm");
  EXPECT_EQ(make_transport("auto", {NodeId{0}, 2, {0, 1}}).value()->name(), "ucx");
  EXPECT_EQ(make_transport("auto", {NodeId{0}, 3, {0, 1, 0}}).value()->name(), "mixed");
}

TEST(TransportRegistryTest, AnUnknownNameIsAnErrorThatListsTheNames) {
  auto factory = make_transport("pigeon", pair());
  ASSERT_FALSE(factory.ok());
  for (std::string_view name : transport_names()) {
    EXPECT_NE(factory.error().message.find(name), std::string::npos) << factory.error().message;
  }
}

TEST(TransportRegistryTest, AJobThatIsTooLargeIsRefusedWithAReason) {
  Placement crowd = Placement::on_one_host(NodeId{0}, 1000);
  EXPECT_FALSE(make_transport("self", pair()).value()->open(pair(), {}).ok());
  EXPECT_FALSE(make_transport("shm", crowd).value()->open(crowd, {}).ok());
}

TEST(TransportRegistryTest, TooFewCardsAreRefused) {
  auto factory = std::move(make_transport("shm", pair())).value();
  auto card = factory->open(pair(), {});
  ASSERT_TRUE(card.ok());
  std::vector<Card> cards;
  cards.push_back(std::move(card).value());
  EXPECT_FALSE(factory->connect(std::move(cards)).ok());
}

}  // namespace
}  // namespace terrane::transport
