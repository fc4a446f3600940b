#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "conformance.h"
#include "one_sided_calls.h"
#include "platform/wait.h"

namespace terrane::conformance {
namespace {

using transport::AtomicOp;

constexpr NodeId kDoomed{2};
constexpr std::uint64_t kRegionBytes = std::uint64_t{8} << 20;

JobOptions job(const std::string& transport) {
  return {.transport = transport,
          .nodes = 3,
          .region_bytes = {kRegionBytes},
          .one_sided = true,
          .doomed = {kDoomed}};
}

// Calls toward the doomed one until there is an error, or its death is known and its memory is
// still there.
void call_until_lost(Node& node, const std::atomic<bool>& known, std::uint64_t kind) {
  std::vector<std::byte> bytes(kind % 2 == 0 ? 8 : 1 << 20);
  // Each kind has a place of its own: this node's threads do not race.
  std::uint64_t place = kind % 2 == 0 ? kRegionBytes / 2 + kind * 8 : kind / 2 * bytes.size();
  for (std::uint64_t round = 0;; ++round) {
    base::Result<> done;
    switch (kind / 2) {
      case 0:
        done = node.transport.get(kDoomed, {0, place}, bytes);
        break;
      case 1:
        done = node.transport.put(kDoomed, {0, place}, bytes);
        break;
      case 2:
        done = node.transport.put_nbi(kDoomed, {0, place}, bytes);
        break;
      case 3:
        done = node.transport.get_nbi(kDoomed, {0, place}, bytes);
        break;
      default: {
        auto before = node.transport.atomic_fetch(kDoomed, {0, place}, {AtomicOp::kAdd, 8, 1});
        if (!before) done = before.error();
      }
    }
    // What is on its way to or from `bytes` ends here.
    auto quiet = node.transport.quiet();
    if (!done) return require_refused(done, kDoomed);
    if (!quiet) return require_refused(quiet, kDoomed);
    if (known.load()) return;
  }
}

TEST_P(PeersTest, CallsTowardAPeerThatDiesInTheMiddleEnd) {
  auto body = [](Node& node) {
    Recorder recorder;
    if (node.self == kDoomed) {
      std::uint64_t end_ns = platform::now_ns() + 20'000'000;
      while (platform::now_ns() < end_ns) node.transport.poll(recorder);
      ::raise(SIGKILL);
    }
    std::atomic<bool> known{false};
    std::vector<std::thread> callers;
    for (std::uint64_t kind = 0; kind < 9; ++kind) {
      callers.emplace_back([&, kind] { call_until_lost(node, known, kind); });
    }
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    known.store(true);
    for (std::thread& caller : callers) caller.join();
    require(recorder.losses == std::vector{kDoomed}, "reported once");
    // The others go on.
    NodeId other{1 - node.self.value};
    for (std::uint64_t round = 0; round < 100; ++round) {
      std::byte byte{};
      require_ok(node.transport.get(other, {0, round}, {&byte, 1}));
      require_ok(node.transport.put(other, {0, round}, {&byte, 1}));
      require_ok(node.transport.quiet(other));
    }
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

// The target stops serving and then dies: the caller waits in the call alone.
TEST_P(PeersTest, ACallThatWaitsForAPeerEndsWithThePeer) {
  auto body = [](Node& node) {
    Recorder recorder;
    if (node.self == kDoomed) {
      node.barrier();
      ::usleep(50'000);
      ::raise(SIGKILL);
    }
    node.barrier();
    std::vector<std::byte> bytes(1 << 20);
    if (auto got = node.transport.get(kDoomed, {0, 0}, bytes); !got) {
      require_refused(got, kDoomed);
      require_refused(node.transport.put(kDoomed, {0, 0}, bytes), kDoomed);
    }
    poll_until(node, recorder, [&] { return !recorder.losses.empty(); });
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

// A receiver starts calls, and those that would wait there do not.
TEST_P(PeersTest, AReceiverMayStartCallsAndNeverWaits) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kMessages = 50;
    NodeId peer{1 - node.self.value};
    std::uint64_t number = node.self.value + 1;
    std::uint64_t fetched = 0;
    Recorder recorder([&](NodeId from, transport::Bytes) {
      require_ok(node.transport.put_nbi(from, {0, 64}, bytes_of_word(number)));
      require_ok(node.transport.atomic_post(from, {0, 128}, {AtomicOp::kAdd, 8, 1}));
      require_ok(node.transport.atomic_fetch_nbi(from, {0, 192}, {AtomicOp::kAdd, 8, 1},
                                                 reinterpret_cast<std::byte*>(&fetched)));
      auto got = node.transport.atomic_fetch(from, {0, 256}, {AtomicOp::kAdd, 8, 1});
      if (!got) require(got.error().message.find("receiver") != std::string::npos, "the reason");
      [[maybe_unused]] bool quiet = node.transport.quiet(from).ok();
    });
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      node.transport.send(peer, make_message(node.self, i, 100));
    }
    poll_until(node, recorder, [&] { return recorder.messages == kMessages; });
    require_ok(node.transport.quiet());
    wait_for_all(node);
    auto* words = reinterpret_cast<const std::uint64_t*>(node.regions[0]);
    require(words[8] == peer.value + 1, "the put is there");
    require(words[16] == kMessages, "the additions are there");
    require(words[24] == kMessages && fetched == kMessages - 1, "so are those with a result");
    wait_for_all(node);
  };
  EXPECT_EQ(
      run_job({.transport = GetParam(), .region_bytes = {kRegionBytes}, .one_sided = true}, body),
      "");
}

TEST(DelayTest, OneSidedAnswersTakeTwiceTheLatency) {
  constexpr std::uint64_t kLatency_ns = 5'000'000;
  auto body = [](Node& node) {
    NodeId peer{1 - node.self.value};
    std::byte bytes[64] = {};
    auto require_slow = [&](const base::Result<>& done, std::uint64_t start_ns) {
      require_ok(done);
      require(platform::now_ns() - start_ns >= 2 * kLatency_ns, "it took its time");
    };
    if (node.self.value == 0) {
      std::uint64_t start_ns = platform::now_ns();
      require_slow(node.transport.get(peer, {0, 0}, bytes), start_ns);
      start_ns = platform::now_ns();
      for (int i = 0; i < 10; ++i) require_ok(node.transport.put_nbi(peer, {0, 0}, bytes));
      require_slow(node.transport.quiet(), start_ns);
      start_ns = platform::now_ns();
      fetch(node, peer, {0, 0}, {AtomicOp::kAdd, 8, 1});
      require_slow({}, start_ns);
    }
    wait_for_all(node);
  };
  for (const char* transport : {"shm", "ucx", "mixed"}) {
    EXPECT_EQ(run_job({.transport = transport,
                       .region_bytes = {kRegionBytes},
                       .one_sided = true,
                       .extra_latency_ns = kLatency_ns},
                      body),
              "")
        << transport;
  }
}

// As a reserved heap is: far larger than the machine's memory, and touched in a few places.
TEST_P(PeersTest, ARegionMayBeHugeAndSparse) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kBytes = std::uint64_t{256} << 30;
    NodeId peer{1 - node.self.value};
    for (std::uint64_t at : {std::uint64_t{0}, kBytes / 2 - 50, kBytes - 100}) {
      auto message = make_message(node.self, at, 100);
      require_ok(node.transport.put(peer, {0, at}, message));
      require_ok(node.transport.quiet());
      wait_for_all(node);
      require_message({node.regions[0] + at, 100}, peer, at, 100);
      std::vector<std::byte> back(100);
      require_ok(node.transport.get(peer, {0, at}, back));
      require(back == message, "it comes back");
    }
    wait_for_all(node);
  };
  EXPECT_EQ(
      run_job(
          {.transport = GetParam(), .region_bytes = {std::uint64_t{256} << 30}, .one_sided = true},
          body),
      "");
}

}  // namespace
}  // namespace terrane::conformance
