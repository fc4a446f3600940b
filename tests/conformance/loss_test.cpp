#include <signal.h>
#include <unistd.h>

#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr NodeId kDoomed{2};
constexpr std::uint64_t kSmall = 20;
constexpr std::uint64_t kForever_ns = 600'000'000'000;

// Sends small messages and then the beginning of a large one, and dies.
void die_sending(Node& node) {
  for (std::uint64_t number = 0; number < kSmall; ++number) {
    node.transport.send(NodeId{0}, make_message(node.self, number, 100));
  }
  node.transport.send(NodeId{0}, make_message(node.self, kSmall, 64 << 20));
  ::raise(SIGKILL);
}

TEST_P(PeersTest, APeerKilledInTheMiddleOfAMessageIsReportedOnce) {
  auto body = [](Node& node) {
    if (node.self == kDoomed) die_sending(node);
    std::uint64_t from_doomed = 0;
    std::uint64_t from_others = 0;
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      std::uint64_t& next = from == kDoomed ? from_doomed : from_others;
      require_message(message, from, next, 100);
      ++next;
    });
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    require(from_doomed <= kSmall, "the message that was cut off does not arrive");
    // The others go on, and what is sent to the dead is dropped.
    NodeId other{1 - node.self.value};
    for (std::uint64_t number = 0; number < 200; ++number) {
      node.transport.send(kDoomed, make_message(node.self, number, 100'000));
      node.transport.send(other, make_message(node.self, number, 100));
    }
    poll_until(node, recorder, [&] { return from_others == 200; });
    leave_together(node, recorder);
    require(recorder.losses == std::vector{kDoomed}, "reported once");
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 3, .doomed = {kDoomed}}, body), "");
}

TEST_P(PeersTest, NothingOfADeadPeerArrivesAfterItsReport) {
  auto body = [](Node& node) {
    if (node.self == kDoomed) {
      for (std::uint64_t number = 0; number < 1000; ++number) {
        node.transport.send(NodeId{0}, make_message(node.self, number, 100));
      }
      ::raise(SIGKILL);
    }
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, recorder.messages - 1, 100);
      require(recorder.losses.empty(), "no message after the report");
    });
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 3, .doomed = {kDoomed}}, body), "");
}

TEST_P(PeersTest, ASleepingNodeHearsOfADeath) {
  auto body = [](Node& node) {
    Recorder recorder;
    if (node.self == kDoomed) {
      node.barrier();
      ::usleep(30'000);
      ::raise(SIGKILL);
    }
    node.barrier();
    while (recorder.losses.empty()) {
      node.transport.sleep(kForever_ns);
      node.transport.poll(recorder);
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 3, .doomed = {kDoomed}}, body), "");
}

TEST_P(PeersTest, ABacklogForADeadPeerDoesNotKeepUsBusy) {
  auto body = [](Node& node) {
    Recorder recorder;
    if (node.self == kDoomed) {
      node.barrier();
      ::raise(SIGKILL);
    }
    node.transport.send(kDoomed, make_message(node.self, 0, 32 << 20));
    node.barrier();
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    poll_until(node, recorder, [&] { return !node.transport.pending(); });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 3, .doomed = {kDoomed}}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
