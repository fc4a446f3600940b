#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/prng.h"
#include "conformance.h"
#include "one_sided_calls.h"

namespace terrane::conformance {
namespace {

using transport::Atomic;
using transport::AtomicOp;
using transport::RemoteAddress;

constexpr std::uint64_t kRegionBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kForever_ns = 600'000'000'000;

JobOptions job(const std::string& transport, std::uint32_t nodes = 2) {
  return {.transport = transport,
          .nodes = nodes,
          .region_bytes = {kRegionBytes, 8192},
          .one_sided = true};
}

// Each node writes to the next one, and reads back by get what it wrote; the next one finds it in
// its memory. Node 0 of 1 does so to itself.
void exchange(Node& node) {
  NodeId next{(node.self.value + 1) % node.nodes};
  NodeId previous{(node.self.value + node.nodes - 1) % node.nodes};
  std::uint64_t number = 0;
  for (std::size_t bytes : telling_sizes()) {
    if (bytes > kRegionBytes / 2) continue;
    RemoteAddress at{0, number * 13 % 4099};
    auto sent = make_message(node.self, number, bytes);
    require_ok(node.transport.put(next, at, sent));
    auto kept = sent;
    std::fill(sent.begin(), sent.end(), std::byte{0});  // it is ours again
    require_ok(node.transport.quiet(next));
    std::vector<std::byte> back(bytes);
    require_ok(node.transport.get(next, at, back));
    require(back == kept, fmt::format("{} bytes come back", bytes));
    wait_for_all(node);
    require_message({node.regions[0] + at.offset, bytes}, previous, number++, bytes);
    wait_for_all(node);
  }
}

TEST_P(LoopbackTest, ANodePutsAndGetsItsOwnMemory) {
  EXPECT_EQ(run_job(job(GetParam(), 1), exchange), "");
}

TEST_P(PeersTest, WhatIsPutIsFoundThereAndComesBack) {
  EXPECT_EQ(run_job(job(GetParam(), 3), exchange), "");
}

TEST_P(PeersTest, ManyPutsAndGetsAreDoneAfterOneQuiet) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kPieces = 3000;
    NodeId peer{1 - node.self.value};
    auto bytes_of = [](std::uint64_t number) { return number % 100 == 0 ? 40'000 : number % 900; };
    std::vector<std::vector<std::byte>> sent;
    std::uint64_t offset = 0;
    for (std::uint64_t number = 0; number < kPieces; ++number) {
      sent.push_back(make_message(node.self, number, bytes_of(number)));
      require_ok(node.transport.put_nbi(peer, {0, offset}, sent.back()));
      offset += sent.back().size();
    }
    require_ok(node.transport.quiet());
    std::vector<std::vector<std::byte>> back;
    offset = 0;
    for (std::uint64_t number = 0; number < kPieces; ++number) {
      back.emplace_back(bytes_of(number));
      require_ok(node.transport.get_nbi(peer, {0, offset}, back.back()));
      offset += back.back().size();
    }
    require_ok(node.transport.quiet(peer));
    require(back == sent, "all came back");
    wait_for_all(node);
    offset = 0;
    for (std::uint64_t number = 0; number < kPieces; ++number) {
      require_message({node.regions[0] + offset, bytes_of(number)}, peer, number, bytes_of(number));
      offset += bytes_of(number);
    }
    wait_for_all(node);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

// The peer looks at its own memory only.
TEST_P(PeersTest, AFenceKeepsAFlagBehindItsData) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 400;
    constexpr std::uint64_t kFlagAt = 8 << 20;
    NodeId peer{1 - node.self.value};
    Recorder recorder;
    auto* flag = reinterpret_cast<std::uint64_t*>(node.regions[0] + kFlagAt);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      std::size_t bytes = round % 20 == 0 ? 300'000 : 50 * round;
      if ((round + node.self.value) % 2 == 0) {
        auto data = make_message(node.self, round, bytes);
        std::uint64_t value = round + 1;
        if (round % 6 > 3) {
          require_ok(node.transport.put_and_set(peer, {0, 64 + round}, data, {0, kFlagAt}, value));
          continue;
        }
        require_ok(node.transport.put_nbi(peer, {0, 64 + round}, data));
        require_ok(node.transport.fence());
        if (round % 4 < 2) {
          require_ok(node.transport.put(peer, {0, kFlagAt}, bytes_of_word(value)));
        } else {
          require_ok(node.transport.atomic_post(peer, {0, kFlagAt}, {AtomicOp::kSwap, 8, value}));
        }
        require_ok(node.transport.quiet());
      } else {
        poll_until(node, recorder, [&] { return std::atomic_ref(*flag).load() == round + 1; });
        require_message({node.regions[0] + 64 + round, bytes}, peer, round, bytes);
      }
    }
    wait_for_all(node);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

TEST_P(PeersTest, APeerThatSleepsServes) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 300;
    Recorder recorder;
    if (node.self.value == 1) {
      for (std::uint64_t at = 0; at < kRounds; ++at)
        node.regions[1][at] = static_cast<std::byte>(at);
      node.board.words[0].store(1);
      while (node.board.words[1].load() == 0) {
        node.transport.sleep(kForever_ns);
        node.transport.poll(recorder);
      }
      return leave_together(node, recorder);
    }
    while (node.board.words[0].load() == 0) ::usleep(100);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      std::byte got{};
      require_ok(node.transport.get(NodeId{1}, {1, round}, {&got, 1}));
      require(got == static_cast<std::byte>(round), "the byte");
      require(fetch(node, NodeId{1}, {1, 4096}, {AtomicOp::kAdd, 8, 1}) == round, "the count");
      if (round % 20 == 0) ::usleep(1000);
    }
    node.board.words[1].store(1);
    node.transport.send(NodeId{1}, transport::Bytes{});
    leave_together(node, recorder);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

// A thread of each node sleeps as the engine's handler does, and the programs compute or call.
TEST_P(PeersTest, AHandlerServesWhileTheProgramComputes) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 200;
    NodeId peer{1 - node.self.value};
    std::atomic<std::uint64_t> messages{0};
    std::atomic<bool> over{false};
    std::thread handler([&] {
      Recorder recorder([&](NodeId, transport::Bytes) { ++messages; });
      while (!over.load()) {
        node.transport.sleep(kForever_ns);
        node.transport.poll(recorder);
      }
    });
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      node.transport.send(peer, make_message(node.self, round, 100 + round * 10));
      fetch(node, peer, {1, 0}, {AtomicOp::kAdd, 4, 1});
      std::byte got[100];
      require_ok(node.transport.get(peer, {0, round}, got));
    }
    while (messages.load() < kRounds) ::usleep(100);
    node.barrier();
    std::uint32_t count = 0;
    std::memcpy(&count, node.regions[1], sizeof count);
    require(count == kRounds, "all additions are there");
    node.barrier();
    over.store(true);
    node.transport.interrupt();
    handler.join();
    node.barrier();
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

TEST_P(PeersTest, OneSidedCallsAndMessagesMixFromTwoThreads) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 300;
    NodeId peer{1 - node.self.value};
    std::uint64_t next = 0;
    auto bytes_of = [](std::uint64_t number) { return number % 30 == 0 ? 100'000 : number; };
    Recorder recorder([&](NodeId from, transport::Bytes message) {
      require_message(message, from, next, bytes_of(next));
      ++next;
    });
    auto work = [&](std::uint64_t thread) {
      std::uint64_t base = 1'000'000 * (1 + thread);
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        auto sent = make_message(node.self, round + thread, bytes_of(round));
        require_ok(node.transport.put_nbi(peer, {0, base + round}, sent));
        require_ok(node.transport.quiet(peer));
        std::vector<std::byte> back(sent.size());
        require_ok(node.transport.get(peer, {0, base + round}, back));
        require(back == sent, "a put that is quiet is read back");
        require_ok(node.transport.atomic_post(peer, {1, 8}, {AtomicOp::kAdd, 8, 1}));
      }
    };
    std::thread other(work, 1);
    std::thread talker([&] {
      for (std::uint64_t number = 0; number < kRounds; ++number) {
        node.transport.send(peer, make_message(node.self, number, bytes_of(number)));
      }
    });
    work(0);
    other.join();
    talker.join();
    require_ok(node.transport.quiet());
    poll_until(node, recorder, [&] { return next == kRounds; });
    wait_for_all(node);
    std::uint64_t count = 0;
    std::memcpy(&count, node.regions[1] + 8, sizeof count);
    require(count == 2 * kRounds, fmt::format("{} additions are there", count));
    wait_for_all(node);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

TEST_P(PeersTest, PlacesOutsideOfARegionAreRefused) {
  auto body = [](Node& node) {
    std::byte bytes[64] = {};
    for (std::uint32_t to = 0; to < node.nodes; ++to) {
      NodeId peer{to};
      require(node.transport.region_bytes(peer, 0) == kRegionBytes, "the size is known");
      require(node.transport.region_bytes(peer, 2) == 0, "there is no region 2");
      require_ok(node.transport.get(peer, {0, kRegionBytes - 64}, bytes));
      require_ok(node.transport.put(peer, {0, kRegionBytes}, {}));
      for (RemoteAddress at : {RemoteAddress{0, kRegionBytes - 63}, RemoteAddress{0, kRegionBytes},
                               RemoteAddress{0, ~std::uint64_t{0}}, RemoteAddress{2, 0}}) {
        require_refused(node.transport.put(peer, at, bytes), peer);
        require_refused(node.transport.put_nbi(peer, at, bytes), peer);
        require_refused(node.transport.get(peer, at, bytes), peer);
        require_refused(node.transport.get_nbi(peer, at, bytes), peer);
      }
      for (RemoteAddress at : {RemoteAddress{0, kRegionBytes}, RemoteAddress{0, 4},
                               RemoteAddress{0, kRegionBytes - 4}, RemoteAddress{2, 0}}) {
        Atomic add{AtomicOp::kAdd, 8, 1};
        require(!node.transport.atomic_fetch(peer, at, add).ok(), "refused");
        require_refused(node.transport.atomic_fetch_nbi(peer, at, add, bytes), peer);
        require_refused(node.transport.atomic_post(peer, at, add), peer);
      }
    }
    wait_for_all(node);
  };
  EXPECT_EQ(run_job(job(GetParam()), body), "");
}

}  // namespace
}  // namespace terrane::conformance
