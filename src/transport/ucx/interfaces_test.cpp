#include "transport/ucx/interfaces.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace terrane::transport::ucx {
namespace {

const Interface kLoopback{.name = "lo", .up = true, .loopback = true};
const Interface kEth0{.name = "eth0", .up = true};
const Interface kEth1{.name = "eth1", .up = true, .default_route = true};
const Interface kDown{.name = "eth2"};
const Interface kBridge{.name = "docker0", .up = true, .inner = true};
const Interface kPort{.name = "mlx5_0:1", .up = true, .rdma = true};

std::string chosen(const std::vector<Interface>& present, std::string_view wanted = "auto",
                   bool one_host = false) {
  auto choice = choose_interfaces(present, wanted, "", one_host);
  return choice ? choice.value().devices : "error: " + choice.error().message;
}

TEST(InterfacesTest, AJobOnOneHostTakesTheLoopback) {
  EXPECT_EQ(chosen({kLoopback, kEth0}, "auto", true), "lo");
}

TEST(InterfacesTest, TheWayOutOfTheHostIsTakenAndNotTheOneToItsContainers) {
  EXPECT_EQ(chosen({kLoopback, kBridge, kEth0, kDown}), "eth0");
}

TEST(InterfacesTest, TheDefaultRouteDecidesAmongSeveral) {
  EXPECT_EQ(chosen({kLoopback, kEth0, kEth1}), "eth1");
  EXPECT_EQ(chosen({kEth0, {.name = "eth5", .up = true}}), "eth0,eth5");
}

TEST(InterfacesTest, RdmaIsTakenBesideTcp) { EXPECT_EQ(chosen({kEth0, kPort}), "mlx5_0:1,eth0"); }

TEST(InterfacesTest, AHostWithoutAWayOutHasItsLoopback) { EXPECT_EQ(chosen({kLoopback}), "lo"); }

TEST(InterfacesTest, NamesAreTakenAsAsked) {
  EXPECT_EQ(chosen({kLoopback, kEth0, kEth1}, "eth0,lo"), "eth0,lo");
  EXPECT_EQ(chosen({kEth0, kPort}, "mlx5_0"), "mlx5_0:1");
}

TEST(InterfacesTest, TheFastestOneIsTheBandwidth) {
  std::vector<Interface> present{{.name = "eth0", .up = true, .megabits = 1'000},
                                 {.name = "eth1", .up = true, .megabits = 25'000},
                                 {.name = "wlan0", .up = true}};
  auto bandwidth = [&](std::string_view wanted) {
    return choose_interfaces(present, wanted, "", false).value().bandwidth;
  };
  EXPECT_EQ(bandwidth("eth0"), 125'000'000u);
  EXPECT_EQ(bandwidth("eth0,eth1"), 3'125'000'000u);
  EXPECT_EQ(bandwidth("wlan0"), 1'250'000'000u) << "its driver does not say";
}

TEST(InterfacesTest, AnInterfaceThatIsNotThereIsAnErrorThatListsThoseThatAre) {
  std::string error = chosen({kLoopback, kEth0}, "eth7");
  EXPECT_NE(error.find("eth7"), std::string::npos) << error;
  EXPECT_NE(error.find("lo, eth0"), std::string::npos) << error;
  EXPECT_NE(chosen({kDown}, "eth2").find("down"), std::string::npos);
  EXPECT_NE(chosen({kEth0}, ",").find("error"), std::string::npos);
}

TEST(InterfacesTest, UcxsOwnVariableIsRespectedWhereNothingElseIsAskedFor) {
  EXPECT_EQ(choose_interfaces({kEth0}, "auto", "eth9", false).value().devices, "eth9");
  EXPECT_EQ(choose_interfaces({kEth0}, "eth0", "eth9", false).value().devices, "eth0");
  EXPECT_TRUE(choose_interfaces({kEth0}, "eth0", "eth9", false).value().sockets_alone);
  EXPECT_FALSE(choose_interfaces({kEth0}, "auto", "eth9", false).value().sockets_alone);
}

TEST(InterfacesTest, EveryMachineHasALoopback) {
  auto here = list_interfaces();
  EXPECT_TRUE(std::any_of(here.begin(), here.end(), [](auto& one) { return one.loopback; }));
}

}  // namespace
}  // namespace terrane::transport::ucx
