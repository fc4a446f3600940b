#include <fmt/format.h>
#include <signal.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr std::uint64_t kRegionBytes = 1 << 20;

TEST_P(PeersTest, ReachedMemoryIsThePeersMemory) {
  auto body = [](Node& node) {
    Recorder recorder;
    require(node.transport.reach(node.self, 2) == nullptr, "there is no region 2");
    for (std::uint32_t to = 0; to < node.nodes; ++to) {
      for (std::uint32_t region = 0; region < 2; ++region) {
        std::byte* reached = node.transport.reach(NodeId{to}, region);
        if (reached == nullptr) return leave_together(node, recorder);  // messages alone
        require(reached == node.transport.reach(NodeId{to}, region), "mapped once");
        reached[64 * node.self.value + region] = static_cast<std::byte>(1 + to);
      }
    }
    node.barrier();
    for (std::uint32_t from = 0; from < node.nodes; ++from) {
      for (std::uint32_t region = 0; region < 2; ++region) {
        require(
            node.regions[region][64 * from + region] == static_cast<std::byte>(1 + node.self.value),
            "we see the peer's store");
      }
    }
    node.regions[0][kRegionBytes - 1] = static_cast<std::byte>(100 + node.self.value);
    node.barrier();
    for (std::uint32_t to = 0; to < node.nodes; ++to) {
      require(
          node.transport.reach(NodeId{to}, 0)[kRegionBytes - 1] == static_cast<std::byte>(100 + to),
          "peers see our store");
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(
      run_job({.transport = GetParam(), .nodes = 3, .region_bytes = {kRegionBytes, 8192}}, body),
      "");
}

TEST_P(PeersTest, DescriptorsStayFewAndNoneIsLeftBehind) {
  auto body = [](Node& node) {
    Recorder recorder;
    std::size_t connected = open_descriptors();
    for (std::uint32_t to = 0; to < node.nodes; ++to) {
      node.transport.send(NodeId{to}, make_message(node.self, 0, 100));
      node.transport.reach(NodeId{to}, 0);
    }
    poll_until(node, recorder, [&] { return recorder.messages == node.nodes; });
    require(open_descriptors() <= connected, "use opens no descriptors for good");
    require(connected <= 32 + 3 * node.nodes, fmt::format("{} descriptors", connected));
    leave_together(node, recorder);
    // The harness counts again once the transport has gone.
  };
  for (bool one_sided : {false, true}) {
    EXPECT_EQ(
        run_job(
            {.transport = GetParam(), .nodes = 16, .region_bytes = {8192}, .one_sided = one_sided},
            body),
        "");
  }
}

// The files of /dev/shm that this process has mapped and that still have a name.
std::vector<std::string> named_shared_files() {
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    auto at = line.find("/dev/shm/");
    if (at != std::string::npos && std::filesystem::exists(line.substr(at))) {
      found.push_back(line.substr(at));
    }
  }
  return found;
}

TEST_P(PeersTest, NothingIsLeftInDevShmWhenANodeIsKilled) {
  auto body = [](Node& node) {
    Recorder recorder;
    for (std::uint32_t to = 0; to < node.nodes; ++to) {
      node.transport.send(NodeId{to}, make_message(node.self, 0, 100'000));
    }
    poll_until(node, recorder, [&] { return recorder.messages == node.nodes; });
    if (node.self.value == 0) {
      std::string all;
      for (const auto& file : named_shared_files()) all += file + "\n";
      require(all.size() < sizeof node.board.text, "the board has room for all names");
      std::memcpy(node.board.text, all.c_str(), all.size() + 1);
    }
    node.barrier();
    if (node.self.value == 1) ::raise(SIGKILL);
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
  };
  auto after = [](Board& board) {
    std::istringstream names(board.text);
    for (std::string name; std::getline(names, name);) {
      EXPECT_FALSE(std::filesystem::exists(name)) << name;
    }
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .doomed = {NodeId{1}}}, body, after), "");
}

}  // namespace
}  // namespace terrane::conformance
