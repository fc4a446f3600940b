#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/prng.h"
#include "conformance.h"

namespace terrane::conformance {
namespace {

// A lost wake-up hangs, and the test's time runs out.
constexpr std::uint64_t kForever_ns = 600'000'000'000;

void sleep_until(Node& node, Recorder& recorder, const std::function<bool()>& condition) {
  while (!condition()) {
    if (node.transport.poll(recorder) == 0) node.transport.sleep(kForever_ns);
  }
}

// Node 0 sends by `send` once node 1 sleeps, or is about to.
std::string send_to_sleeper(const std::string& transport,
                            const std::function<void(Node& sender)>& send) {
  auto body = [&](Node& node) {
    Recorder recorder;
    if (node.self.value == 1) {
      node.board.words[0].store(1);
      sleep_until(node, recorder, [&] { return recorder.messages == 1; });
    } else {
      while (node.board.words[0].load() == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      send(node);
    }
    leave_together(node, recorder);
  };
  return run_job({.transport = transport}, body);
}

TEST_P(PeersTest, AMessageWakesASleepingReceiver) {
  auto send = [](Node& node) { node.transport.send(NodeId{1}, make_message(node.self, 0, 8)); };
  EXPECT_EQ(send_to_sleeper(GetParam(), send), "");
}

// Where the transport knows the difference, the ring is what wakes.
TEST_P(PeersTest, AMessageWithoutARingIsTakenAtTheLatestWhenTheSenderRings) {
  auto send = [](Node& node) {
    node.transport.send_unrung(NodeId{1}, make_message(node.self, 0, 8));
    node.transport.ring(NodeId{1}, transport::Sleepers::kAll);
  };
  EXPECT_EQ(send_to_sleeper(GetParam(), send), "");
}

TEST_P(PeersTest, ARingForThoseWhoWaitWakesThem) {
  auto send = [](Node& node) {
    node.transport.send_unrung(NodeId{1}, make_message(node.self, 0, 8));
    node.transport.ring(NodeId{1}, transport::Sleepers::kWaiting);
  };
  EXPECT_EQ(send_to_sleeper(GetParam(), send), "");
}

// A sleeper leaves arrived messages to a thread that polls for the node, and is woken for messages
// that come while no thread does.
std::string sleep_beside(const std::string& transport, std::uint64_t patience_ns) {
  auto body = [patience_ns](Node& node) {
    constexpr std::uint64_t kRounds = 1000;
    NodeId peer{1 - node.self.value};
    std::atomic<std::uint64_t> came{0};
    std::atomic<bool> over{false};
    Recorder recorder([&](NodeId, transport::Bytes) { came.fetch_add(1); });
    std::thread sleeper([&] {
      while (!over.load()) {
        node.transport.sleep_beside(kForever_ns, patience_ns);
        node.transport.poll(recorder);
      }
    });
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      bool attends = round % 3 != 0;
      if (attends) node.transport.attend();
      node.transport.send_unrung(peer, make_message(node.self, round, 8));
      while (came.load() <= round) {
        if (attends) node.transport.poll(recorder);
        node.transport.ring(peer, transport::Sleepers::kAll);
      }
      // What we wait for may have come before the first look.
      node.transport.ring(peer, transport::Sleepers::kAll);
      if (attends && node.transport.unattend()) node.transport.poll(recorder);
    }
    over.store(true);
    node.transport.interrupt();
    sleeper.join();
    leave_together(node, recorder);
  };
  return run_job({.transport = transport}, body);
}

TEST_P(PeersTest, ASleeperBesideAThreadThatAttendsAtTimesMissesNothing) {
  EXPECT_EQ(sleep_beside(GetParam(), 0), "");
}
TEST_P(PeersTest, NorDoesOneThatLeavesWhatComesToItForAWhile) {
  EXPECT_EQ(sleep_beside(GetParam(), 50'000), "");
}

TEST_P(PeersTest, NoWakeUpIsLostWhenBothSidesSleep) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 1000;
    NodeId peer{1 - node.self.value};
    base::Prng prng(node.self.value);
    Recorder recorder;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      if (node.self.value == 0) node.transport.send(peer, make_message(node.self, round, 8));
      sleep_until(node, recorder, [&] { return recorder.messages == round + 1; });
      for (std::uint32_t i = prng.below(300); i > 0; --i)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      if (node.self.value == 1) node.transport.send(peer, make_message(node.self, round, 8));
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

TEST_P(PeersTest, ManySendersWakeOneSleeper) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kMessages = 100;
    std::vector<std::uint64_t> next(node.nodes);
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, next[from.value]++, 32);
      node.transport.send(from, message);
    });
    Recorder echoes;
    if (node.self.value == 0) {
      sleep_until(node, recorder,
                  [&] { return recorder.messages == kMessages * (node.nodes - 1); });
    } else {
      for (std::uint64_t number = 0; number < kMessages; ++number) {
        node.transport.send(NodeId{0}, make_message(node.self, number, 32));
        sleep_until(node, echoes, [&] { return echoes.messages == number + 1; });
      }
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 12}, body), "");
}

TEST_P(PeersTest, MessagesLongerThanASleeperKeepsReachIt) {
  auto body = [](Node& node) {
    constexpr std::size_t kBytes = std::size_t{65} << 20;
    constexpr std::uint64_t kMessages = 2;
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, recorder.messages - 1, kBytes);
    });
    if (node.self.value == 0) {
      for (std::uint64_t number = 0; number < kMessages; ++number) {
        node.transport.send(NodeId{1}, make_message(node.self, number, kBytes));
      }
    } else {
      sleep_until(node, recorder, [&] { return recorder.messages == kMessages; });
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

std::atomic<transport::Transport*> g_interrupted{nullptr};
void interrupt_from_handler(int) { g_interrupted.load()->interrupt(); }

TEST_P(PeersTest, ASignalHandlerMayInterrupt) {
  auto body = [](Node& node) {
    Recorder recorder;
    node.transport.poll(recorder);
    g_interrupted.store(&node.transport);
    struct sigaction action {};
    action.sa_handler = interrupt_from_handler;
    action.sa_flags = SA_RESTART;
    require(::sigaction(SIGUSR1, &action, nullptr) == 0, "a signal handler");
    std::atomic<bool> awake{false};
    std::thread poker([&] {
      while (!awake.load()) {
        ::kill(::getpid(), SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    for (int i = 0; i < 5; ++i) node.transport.sleep(kForever_ns);
    awake.store(true);
    poker.join();
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
