#include <signal.h>

#include "conformance.h"
#include "platform/wait.h"

namespace terrane::conformance {
namespace {

constexpr std::uint64_t kLatency_ns = 20'000'000;
constexpr NodeId kDoomed{1};

// Round a transport, the delay keeps the contract; and no message is quicker than it says.
TEST(DelayTest, MessagesBetweenHostsTakeAtLeastTheLatencyAndKeepTheirOrder) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kMessages = 200;
    NodeId peer{1 - node.self.value};
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, recorder.messages - 1, 50 * (recorder.messages - 1));
    });
    node.board.words[node.self.value].store(platform::now_ns());
    node.barrier();
    for (std::uint64_t number = 0; number < kMessages; ++number) {
      auto message = make_message(node.self, number, 50 * number);
      transport::Bytes bytes(message);
      node.transport.send(peer, bytes.first(number % 7 == 0 ? 0 : bytes.size() / 2),
                          bytes.subspan(number % 7 == 0 ? 0 : bytes.size() / 2));
    }
    poll_until(node, recorder, [&] { return recorder.messages == kMessages; });
    std::uint64_t peer_began_ns = node.board.words[peer.value].load();
    require(platform::now_ns() - peer_began_ns >= kLatency_ns, "the messages took their time");
    leave_together(node, recorder);
  };
  for (const char* transport : {"shm", "ucx", "mixed"}) {
    EXPECT_EQ(run_job({.transport = transport, .extra_latency_ns = kLatency_ns}, body), "")
        << transport;
  }
}

TEST(DelayTest, MessagesWithinAHostAreNotDelayedWhereThereAreSeveral) {
  auto body = [](Node& node) {
    Recorder recorder;
    NodeId neighbour{node.self.value ^ 1};
    node.transport.send(neighbour, make_message(node.self, 0, 100));
    // An hour of latency would not let this end.
    poll_until(node, recorder, [&] { return recorder.messages == 1; });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = "mixed", .nodes = 4, .extra_latency_ns = 3600'000'000'000}, body),
            "");
}

TEST(DelayTest, ALossComesAfterTheMessagesBeforeIt) {
  auto body = [](Node& node) {
    if (node.self == kDoomed) {
      node.transport.send(NodeId{0}, make_message(node.self, 0, 100));
      node.barrier();
      ::raise(SIGKILL);
    }
    Recorder recorder([&](NodeId, transport::Bytes) {
      require(recorder.losses.empty(), "no message after the report");
    });
    node.barrier();
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    require(recorder.messages == 1, "the message came first");
  };
  EXPECT_EQ(
      run_job({.transport = "shm", .doomed = {kDoomed}, .extra_latency_ns = kLatency_ns}, body),
      "");
}

}  // namespace
}  // namespace terrane::conformance
