#include <signal.h>

#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr NodeId kFirst{2};
constexpr std::uint64_t kSmall = 20;
constexpr std::size_t kLarge = 8 << 20;

std::size_t size_of(std::uint64_t number) { return number == kSmall ? kLarge : 100; }

// A process may end without taking its transport down, as a program does that calls _exit or
// executes another one: what the system still holds of its messages would be lost with it, and so
// would those that wait unread at a peer when a socket is closed that has unread bytes itself.
TEST_P(PeersTest, WhatAProcessSentHasArrivedWhenItHasFinishedAndEnds) {
  auto body = [](Node& node) {
    if (node.self == kFirst) {
      node.barrier();  // unread messages of the others are here
      for (NodeId to : {NodeId{0}, NodeId{1}})
        for (std::uint64_t number = 0; number <= kSmall; ++number)
          node.transport.send(to, make_message(node.self, number, size_of(number)));
      node.transport.finish();
      ::raise(SIGKILL);
    }
    std::uint64_t arrived = 0;
    std::uint64_t from_other = 0;
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      std::uint64_t& next = from == kFirst ? arrived : from_other;
      require_message(message, from, next, from == kFirst ? size_of(next) : 100);
      ++next;
    });
    for (std::uint64_t number = 0; number < 100; ++number)
      node.transport.send(kFirst, make_message(node.self, number, 1000));
    node.barrier();
    // By gateways the end of a node that has finished is no loss.
    poll_until(node, recorder, [&] { return arrived == kSmall + 1 || !recorder.losses.empty(); });
    require(arrived == kSmall + 1, "all that was sent before the end arrives");
    std::atomic<std::uint64_t>& done = node.board.words[0];
    done.fetch_add(1);
    poll_until(node, recorder, [&] { return done.load() == 2; });
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 3, .doomed = {kFirst}}, body), "");
}

TEST_P(PeersTest, NodesThatFinishTogetherWhileTheyAreFullOfMessagesEnd) {
  auto body = [](Node& node) {
    NodeId other{1 - node.self.value};
    for (std::uint64_t number = 0; number < 8; ++number)
      node.transport.send(other, make_message(node.self, number, kLarge));
    node.barrier();
    node.transport.finish();
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 2, .timeout_s = 20}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
