#include <atomic>
#include <chrono>
#include <thread>

#include "conformance.h"
#include "platform/wait.h"

namespace terrane::conformance {
namespace {

constexpr std::uint64_t kForever_ns = 600'000'000'000;
constexpr NodeId kSelf{0};

TEST_P(LoopbackTest, MessagesOfEverySizeArriveWholeAndInOrder) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1},
                    [](Node& node) {
                      auto sizes = telling_sizes();
                      Recorder recorder([&](NodeId from, transport::Bytes message) {
                        require_message(message, from, recorder.messages - 1,
                                        sizes[recorder.messages - 1]);
                      });
                      for (std::size_t i = 0; i < sizes.size(); ++i) {
                        node.transport.send(kSelf, make_message(kSelf, i, sizes[i]));
                      }
                      poll_until(node, recorder, [&] { return recorder.messages == sizes.size(); });
                    }),
            "");
}

TEST_P(LoopbackTest, TwoPartsArriveJoined) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1},
                    [](Node& node) {
                      auto whole = make_message(kSelf, 0, 300'000);
                      transport::Bytes bytes(whole);
                      Recorder recorder([&](NodeId from, transport::Bytes message) {
                        require_message(message, from, 0, whole.size());
                      });
                      std::uint64_t sent = 0;
                      for (std::size_t cut : {0, 1, 40, 4096, 262'100, 299'999, 300'000}) {
                        node.transport.send(kSelf, bytes.first(cut), bytes.subspan(cut));
                        ++sent;
                      }
                      poll_until(node, recorder, [&] { return recorder.messages == sent; });
                    }),
            "");
}

TEST_P(LoopbackTest, AReceiverMaySendWhileItReceives) {
  EXPECT_EQ(
      run_job({.transport = GetParam(), .nodes = 1},
              [](Node& node) {
                Recorder recorder([&](NodeId from, transport::Bytes message) {
                  std::uint64_t number = recorder.messages - 1;
                  require_message(message, from, number, 10 * number);
                  if (number < 500) {
                    node.transport.send(from, make_message(from, number + 1, 10 * number + 10));
                  }
                  require_message(message, from, number, 10 * number);
                });
                node.transport.send(kSelf, transport::Bytes{});
                poll_until(node, recorder, [&] { return recorder.messages == 501; });
                require(!node.transport.pending(), "nothing is pending when all is delivered");
              }),
      "");
}

TEST_P(LoopbackTest, OneThreadDeliversAtATime) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1},
                    [](Node& node) {
                      constexpr std::uint64_t kMessages = 400;
                      std::atomic<int> inside{0};
                      std::atomic<std::uint64_t> delivered{0};
                      Recorder recorder([&](NodeId from, transport::Bytes message) {
                        require(inside.fetch_add(1) == 0, "two threads deliver at once");
                        std::this_thread::yield();  // for the other thread to try
                        require_message(message, from, delivered.fetch_add(1), 24);
                        inside.fetch_sub(1);
                      });
                      auto serve = [&] {
                        while (delivered.load() < kMessages) {
                          if (node.transport.poll(recorder) == 0) node.transport.sleep(1'000'000);
                        }
                      };
                      std::thread one(serve);
                      std::thread two(serve);
                      for (std::uint64_t i = 0; i < kMessages; ++i) {
                        node.transport.send(kSelf, make_message(kSelf, i, 24));
                      }
                      one.join();
                      two.join();
                    }),
            "");
}

TEST_P(LoopbackTest, SleepEndsAfterItsTime) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1},
                    [](Node& node) {
                      Recorder recorder;
                      node.transport.poll(recorder);
                      for (std::uint64_t timeout_ns : {0, 1000, 30'000'000}) {
                        std::uint64_t start_ns = platform::now_ns();
                        node.transport.sleep(timeout_ns);
                        require(platform::now_ns() - start_ns >= timeout_ns, "woken for nothing");
                      }
                    }),
            "");
}

TEST_P(LoopbackTest, ASleeperWakesWhenAnotherThreadSends) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1},
                    [](Node& node) {
                      constexpr std::uint64_t kMessages = 300;
                      std::atomic<std::uint64_t> delivered{0};
                      Recorder recorder([&](NodeId, transport::Bytes) { ++delivered; });
                      std::thread sleeper([&] {
                        while (delivered.load() < kMessages) {
                          if (node.transport.poll(recorder) == 0) node.transport.sleep(kForever_ns);
                        }
                      });
                      for (std::uint64_t i = 0; i < kMessages; ++i) {
                        node.transport.send(kSelf, make_message(kSelf, i, 8));
                        // Now and then the sleeper must have reached its sleep.
                        while (delivered.load() <= i) std::this_thread::yield();
                      }
                      sleeper.join();
                    }),
            "");
}

TEST_P(LoopbackTest, AnInterruptEndsThePresentOrTheNextSleepOfEveryThread) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1},
                    [](Node& node) {
                      Recorder recorder;
                      node.transport.poll(recorder);
                      for (int round = 0; round < 20; ++round) {
                        // A sleep that is not ended would last for ever.
                        auto sleep = [&] { node.transport.sleep(kForever_ns); };
                        std::thread one(sleep);
                        std::thread two(sleep);
                        if (round % 2 == 0)
                          std::this_thread::sleep_for(std::chrono::milliseconds(2));
                        node.transport.interrupt();
                        sleep();
                        one.join();
                        two.join();
                      }
                      std::uint64_t start_ns = platform::now_ns();
                      node.transport.sleep(5'000'000);
                      require(platform::now_ns() - start_ns >= 5'000'000,
                              "an interrupt ends one sleep of a thread, not all later ones");
                    }),
            "");
}

TEST_P(LoopbackTest, OurOwnRegionsAreReached) {
  EXPECT_EQ(run_job({.transport = GetParam(), .nodes = 1, .region_bytes = {8192, 1 << 20}},
                    [](Node& node) {
                      require(node.transport.reach(kSelf, 2) == nullptr, "there is no region 2");
                      for (std::uint32_t i = 0; i < 2; ++i) {
                        std::byte* reached = node.transport.reach(kSelf, i);
                        if (reached == nullptr) continue;  // a transport that has messages alone
                        reached[100] = std::byte{42};
                        require(node.regions[i][100] == std::byte{42}, "the same memory");
                      }
                    }),
            "");
}

}  // namespace
}  // namespace terrane::conformance
