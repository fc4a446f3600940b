#include <signal.h>
#include <unistd.h>

#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr NodeId kDoomed{1};

// What shared memory guarantees beyond the contract of all transports.

TEST(ShmTest, AllThatAPeerSentInFullBeforeItDiedArrives) {
  constexpr std::uint64_t kMessages = 1000;
  auto body = [](Node& node) {
    if (node.self == kDoomed) {
      for (std::uint64_t number = 0; number < kMessages; ++number) {
        node.transport.send(NodeId{0}, make_message(node.self, number, 100));
      }
      node.barrier();
      ::raise(SIGKILL);
    }
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, recorder.messages - 1, 100);
    });
    node.barrier();
    ::usleep(50'000);
    node.transport.poll(recorder);  // a node that was away is behind when it hears of the death
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    require(recorder.messages == kMessages, "all messages came before the report");
  };
  EXPECT_EQ(run_job({.transport = "shm", .doomed = {kDoomed}}, body), "");
}

TEST(ShmTest, TheMemoryOfAPeerOutlivesIt) {
  auto body = [](Node& node) {
    std::byte* reached = node.transport.reach(kDoomed, 0);
    require(reached != nullptr, "the regions of this host can be reached");
    node.barrier();
    if (node.self == kDoomed) {
      node.regions[0][5] = std::byte{9};
      ::raise(SIGKILL);
    }
    Recorder recorder;
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    require(reached[5] == std::byte{9}, "a load from a dead peer's memory is no fault");
  };
  EXPECT_EQ(run_job({.transport = "shm", .region_bytes = {8192}, .doomed = {kDoomed}}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
