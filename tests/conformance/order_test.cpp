#include <cstdlib>
#include <thread>

#include "base/prng.h"
#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr NodeId kReceiver{1};

// Every node sends `count` messages to every node, itself too, and takes in all that come.
void exchange_all(Node& node, std::uint64_t count) {
  std::vector<std::uint64_t> next(node.nodes);
  auto bytes_of = [](std::uint64_t number) { return 1 + number * 37 % 600; };
  Recorder recorder([&](NodeId from, transport::Bytes message) {
    std::uint64_t number = next[from.value]++;
    require_message(message, from, number, bytes_of(number));
  });
  for (std::uint64_t number = 0; number < count; ++number) {
    auto message = make_message(node.self, number, bytes_of(number));
    for (std::uint32_t to = 0; to < node.nodes; ++to) node.transport.send(NodeId{to}, message);
    node.transport.poll(recorder);
  }
  poll_until(node, recorder, [&] { return recorder.messages == count * node.nodes; });
  leave_together(node, recorder);
  require(recorder.losses.empty(), "nobody is lost while all are there");
}

// From node 0 to node 1, the others being there.
void send_every_size(Node& node) {
  auto sizes = telling_sizes();
  Recorder recorder([&](NodeId from, transport::Bytes message) {
    require_message(message, from, recorder.messages - 1, sizes[recorder.messages - 1]);
  });
  for (std::size_t i = 0; node.self.value == 0 && i < sizes.size(); ++i) {
    node.transport.send(kReceiver, make_message(node.self, i, sizes[i]));
  }
  if (node.self == kReceiver) {
    poll_until(node, recorder, [&] { return recorder.messages == sizes.size(); });
  }
  leave_together(node, recorder);
}

TEST_P(PeersTest, MessagesOfEverySizeArriveWholeAndInOrder) {
  EXPECT_EQ(run_job({.transport = GetParam()}, send_every_size), "");
}

// A backend may give each sender less room when there are many.
TEST_P(PeersTest, MessagesOfEverySizeArriveAmongManyNodes) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 10}, send_every_size), "");
}

TEST_P(PeersTest, AMessageOfAGibibyteArrives) {
  if (std::getenv("TERRANE_TEST_GIBIBYTE") == nullptr) {
    GTEST_SKIP() << "takes 4 GiB of memory: set TERRANE_TEST_GIBIBYTE";
  }
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  auto body = [](Node& node) {
    Recorder recorder(
        [&](NodeId from, transport::Bytes message) { require_message(message, from, 0, kBytes); });
    if (node.self != kReceiver) {
      node.transport.send(kReceiver, make_message(node.self, 0, kBytes));
    } else {
      poll_until(node, recorder, [&] { return recorder.messages == 1; });
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .timeout_s = 100}, body), "");
}

TEST_P(PeersTest, RandomSizesCrossEachOther) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kMessages = 2000;
    NodeId peer{1 - node.self.value};
    auto bytes_of = [](base::Prng& prng) { return prng.below(1u << prng.below(17)); };
    base::Prng ours(node.self.value);
    base::Prng theirs(peer.value);
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, recorder.messages - 1, bytes_of(theirs));
    });
    for (std::uint64_t number = 0; number < kMessages; ++number) {
      node.transport.send(peer, make_message(node.self, number, bytes_of(ours)));
      if (number % 16 == 0) node.transport.poll(recorder);
    }
    poll_until(node, recorder, [&] { return recorder.messages == kMessages; });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

TEST_P(PeersTest, EachSendingThreadKeepsItsOrder) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kThreads = 4;
    constexpr std::uint64_t kMessages = 3000;
    std::vector<std::uint64_t> next(kThreads);
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      auto thread = static_cast<std::uint64_t>(message[0]);
      std::uint64_t number = next.at(thread)++;
      require_message(message.subspan(1), from, thread * kMessages + number, number % 500);
    });
    if (node.self != kReceiver) {
      std::vector<std::thread> threads;
      for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&node, thread] {
          auto mark = static_cast<std::byte>(thread);
          for (std::uint64_t i = 0; i < kMessages; ++i) {
            node.transport.send(kReceiver, transport::Bytes(&mark, 1),
                                make_message(node.self, thread * kMessages + i, i % 500));
          }
        });
      }
      for (auto& thread : threads) thread.join();
    } else {
      poll_until(node, recorder, [&] { return recorder.messages == kThreads * kMessages; });
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

TEST_P(PeersTest, TwoNodesExchangeAllToAll) {
  EXPECT_EQ(
      run_job({.transport = GetParam(), .nodes = 2}, [](Node& node) { exchange_all(node, 2000); }),
      "");
}

TEST_P(PeersTest, EightNodesExchangeAllToAll) {
  EXPECT_EQ(
      run_job({.transport = GetParam(), .nodes = 8}, [](Node& node) { exchange_all(node, 200); }),
      "");
}

TEST_P(PeersTest, ThirtyTwoNodesExchangeAllToAll) {
  EXPECT_EQ(
      run_job({.transport = GetParam(), .nodes = 32}, [](Node& node) { exchange_all(node, 30); }),
      "");
}

}  // namespace
}  // namespace terrane::conformance
