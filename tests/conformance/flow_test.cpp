#include <sched.h>

#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr NodeId kReceiver{1};
constexpr std::uint64_t kForever_ns = 600'000'000'000;

// More than any backend holds in flight: small messages and large ones by turns.
std::size_t flood_bytes_of(std::uint64_t number) { return number % 50 == 0 ? 150'000 : 100; }
constexpr std::uint64_t kFlood = 3000;

void send_flood(Node& node, NodeId to) {
  for (std::uint64_t number = 0; number < kFlood; ++number) {
    node.transport.send(to, make_message(node.self, number, flood_bytes_of(number)));
  }
}

Recorder::OnMessage check_flood(std::uint64_t& next) {
  return [&next](NodeId from, transport::Bytes message) {
    require_message(message, from, next, flood_bytes_of(next));
    ++next;
  };
}

TEST_P(PeersTest, WhatIsSentWhileTheReceiverDoesNotPollArrivesLater) {
  auto body = [](Node& node) {
    std::uint64_t next = 0;
    Recorder recorder(check_flood(next));
    if (node.self != kReceiver) send_flood(node, kReceiver);
    node.barrier();  // the flood is over before the first poll
    if (node.self == kReceiver) poll_until(node, recorder, [&] { return next == kFlood; });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

TEST_P(PeersTest, TwoNodesThatFloodEachOtherGoOn) {
  auto body = [](Node& node) {
    std::uint64_t next = 0;
    Recorder recorder(check_flood(next));
    send_flood(node, NodeId{1 - node.self.value});
    poll_until(node, recorder, [&] { return next == kFlood; });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

// Node 0 floods while the receiver holds still, then only does `go_on` until all has arrived.
std::string flood_and(const std::string& transport, const std::function<void(Node&)>& go_on) {
  auto body = [&](Node& node) {
    std::uint64_t next = 0;
    Recorder recorder(check_flood(next));
    if (node.self != kReceiver) send_flood(node, kReceiver);
    node.barrier();
    if (node.self != kReceiver) {
      while (node.board.words[0].load() == 0) go_on(node);
    } else {
      poll_until(node, recorder, [&] { return next == kFlood; });
      node.board.words[0].store(1);
      node.transport.send(NodeId{0}, transport::Bytes{});
    }
    node.barrier();
  };
  return run_job({.transport = transport}, body);
}

TEST_P(PeersTest, ASenderThatOnlySleepsMovesItsMessagesOn) {
  EXPECT_EQ(flood_and(GetParam(), [](Node& node) { node.transport.sleep(kForever_ns); }), "");
}

TEST_P(PeersTest, ASenderThatOnlyPollsMovesItsMessagesOn) {
  Recorder ignored;
  EXPECT_EQ(flood_and(GetParam(),
                      [&](Node& node) {
                        if (node.transport.poll(ignored) == 0) ::sched_yield();
                      }),
            "");
}

TEST_P(PeersTest, ASenderThatLeavesHasSentWhatItQueued) {
  auto body = [](Node& node) {
    std::uint64_t next = 0;
    Recorder recorder(check_flood(next));
    if (node.self != kReceiver) send_flood(node, kReceiver);
    node.barrier();
    if (node.self != kReceiver) return;  // the transport is taken down with a backlog
    poll_until(node, recorder, [&] { return next == kFlood; });
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

TEST_P(PeersTest, OneFloodedReceiverServesAllSenders) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kMessages = 2000;
    std::vector<std::uint64_t> next(node.nodes);
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, next[from.value]++, 700);
    });
    if (node.self == kReceiver) {
      poll_until(node, recorder, [&] { return recorder.messages == kMessages * (node.nodes - 1); });
    } else {
      for (std::uint64_t number = 0; number < kMessages; ++number) {
        node.transport.send(kReceiver, make_message(node.self, number, 700));
      }
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 12}, body), "");
}

TEST_P(PeersTest, PendingIsFalseAtRestAndTrueWhenAMessageHasCome) {
  auto body = [](Node& node) {
    Recorder recorder;
    if (node.self == kReceiver) {
      poll_until(node, recorder, [&] { return !node.transport.pending(); });
      node.barrier();
      while (!node.transport.pending()) node.transport.sleep(kForever_ns);
      poll_until(node, recorder, [&] { return recorder.messages == 1; });
      poll_until(node, recorder, [&] { return !node.transport.pending(); });
    } else {
      node.barrier();
      node.transport.send(kReceiver, make_message(node.self, 0, 100));
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
