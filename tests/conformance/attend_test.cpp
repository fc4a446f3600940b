#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "conformance.h"

namespace terrane::conformance {
namespace {

constexpr std::uint64_t kForever_ns = 600'000'000'000;
constexpr NodeId kServer{1};

// How often the calling thread has given up the processor by itself, which a sleep that ends and
// begins anew does.
long own_sleeps() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST_P(PeersTest, ArrivalsDoNotWakeSleepersWhileAThreadAttends) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 300;
    NodeId peer{1 - node.self.value};
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      if (node.self == kServer) node.transport.send(from, message);
    });
    std::atomic<int> asleep{0};
    std::atomic<bool> over{false};
    std::atomic<long> sleeps{0};
    std::thread sleeper([&] {
      while (!over.load()) {
        asleep.fetch_add(1);
        node.transport.sleep(kForever_ns);
      }
      sleeps.store(own_sleeps());
    });
    while (asleep.load() == 0) std::this_thread::yield();
    auto start = std::chrono::steady_clock::now();
    node.transport.attend();
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      if (node.self != kServer) node.transport.send(peer, make_message(node.self, round, 64));
      while (recorder.messages == round) {
        if (node.transport.poll(recorder) == 0) std::this_thread::yield();
      }
    }
    over.store(true);
    node.transport.unattend();
    node.transport.interrupt();
    sleeper.join();
    // Some wake-ups are left of the time before, and now and then a sleeper looks round by itself.
    long looks = (std::chrono::steady_clock::now() - start) / std::chrono::milliseconds(10);
    require(sleeps.load() < static_cast<long>(kRounds / 3) + looks, "the sleeper sleeps on");
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

// What comes after the last look of one that attends must wake a sleeper.
TEST_P(PeersTest, ASleeperServesWhenNobodyAttendsAnyMore) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 200;
    Recorder echoes;
    if (node.self != kServer) {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        node.transport.send(kServer, make_message(node.self, round, 64));
        poll_until(node, echoes, [&] { return echoes.messages == round + 1; });
      }
      node.board.words[0].store(1);
      node.transport.send(kServer, transport::Bytes{});
      return leave_together(node, echoes);
    }
    Recorder recorder(
        [&](NodeId from, transport::Bytes message) { node.transport.send(from, message); });
    std::atomic<bool> over{false};
    std::thread handler([&] {
      while (node.board.words[0].load() == 0) {
        node.transport.sleep(kForever_ns);
        while (node.transport.pending() && node.transport.poll(recorder) > 0) {
        }
      }
      over.store(true);
    });
    // The application's waits: now and then it attends, looks a few times, and goes away again.
    while (!over.load()) {
      node.transport.attend();
      for (int look = 0; look < 3; ++look) node.transport.poll(recorder);
      node.transport.unattend();
      if (node.board.words[0].load() != 0) node.transport.interrupt();
      while (node.transport.pending() && node.transport.poll(recorder) > 0) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    handler.join();
    leave_together(node, echoes);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

// It could not go on where both share a processor.
TEST_P(PeersTest, WhoDeliversIsNotAskedAgainAndAgainByASleeper) {
  auto body = [](Node& node) {
    Recorder none;
    if (node.self != kServer) {
      for (std::uint64_t number = 0; number < 2; ++number)
        node.transport.send(kServer, make_message(node.self, number, 64));
      return leave_together(node, none);
    }
    std::atomic<int> came{0};
    std::atomic<int> looks{0};
    std::atomic<int> looks_in_vain{0};
    std::thread sleeper;
    std::function<void()> sleep_and_poll;
    Recorder recorder([&](NodeId, transport::Bytes) {
      if (came.fetch_add(1) != 0) return;
      sleeper = std::thread(sleep_and_poll);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      looks_in_vain.store(looks.load());
    });
    sleep_and_poll = [&] {
      while (came.load() < 2) {
        node.transport.sleep(kForever_ns);
        node.transport.poll(recorder);
        looks.fetch_add(1);
      }
    };
    poll_until(node, recorder, [&] { return came.load() == 2; });
    node.transport.interrupt();
    sleeper.join();
    require(looks_in_vain.load() <= 3, "a sleeper leaves what comes to who delivers");
    leave_together(node, none);
  };
  EXPECT_EQ(run_job({.transport = GetParam()}, body), "");
}

}  // namespace
}  // namespace terrane::conformance
