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

constexpr AtomicOp kOps[] = {AtomicOp::kAdd, AtomicOp::kAnd,  AtomicOp::kOr,
                             AtomicOp::kXor, AtomicOp::kSwap, AtomicOp::kCompareSwap};
// Node 0's words are the ones that all work on.
constexpr NodeId kTarget{0};

JobOptions job(const std::string& transport, std::uint32_t nodes) {
  return {.transport = transport, .nodes = nodes, .region_bytes = {8192}, .one_sided = true};
}

std::uint64_t word_at(Node& node, std::uint64_t offset, std::uint32_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, node.regions[0] + offset, bytes);
  return word;
}

// What the word is after the operation, by plain arithmetic.
std::uint64_t after(const Atomic& atomic, std::uint64_t word) {
  std::uint64_t whole = atomic.bytes == 8 ? ~std::uint64_t{0} : 0xffffffff;
  switch (atomic.op) {
    case AtomicOp::kAdd:
      return (word + atomic.operand) & whole;
    case AtomicOp::kAnd:
      return word & atomic.operand & whole;
    case AtomicOp::kOr:
      return (word | atomic.operand) & whole;
    case AtomicOp::kXor:
      return (word ^ atomic.operand) & whole;
    case AtomicOp::kSwap:
      return atomic.operand & whole;
    case AtomicOp::kCompareSwap:
      return word == (atomic.expected & whole) ? atomic.operand & whole : word;
  }
  return 0;
}

// One thread at a time: every operation gives what arithmetic says, and leaves the neighbours.
void compute(Node& node) {
  if (node.self.value == node.nodes - 1) {
    base::Prng prng(7);
    auto random = [&] { return std::uint64_t{prng.below(1u << 31)} << 33 ^ prng.below(1u << 31); };
    for (std::uint32_t bytes : {4u, 8u}) {
      transport::RemoteAddress place{0, 1000};
      std::uint64_t word = 0;
      for (int round = 0; round < 300; ++round) {
        Atomic atomic{kOps[prng.below(6)], bytes, random(), round % 2 == 0 ? word : random()};
        std::uint64_t before = ~std::uint64_t{0};
        if (round % 3 == 0) {
          before = fetch(node, kTarget, place, atomic);
        } else if (round % 3 == 1 || atomic.op == AtomicOp::kCompareSwap) {
          before = 0;
          require_ok(node.transport.atomic_fetch_nbi(kTarget, place, atomic,
                                                     reinterpret_cast<std::byte*>(&before)));
          require_ok(node.transport.quiet(kTarget));
        } else {
          require_ok(node.transport.atomic_post(kTarget, place, atomic));
          before = word;
        }
        require(before == word, fmt::format("{} instead of {} before", before, word));
        word = after(atomic, word);
      }
      std::uint64_t left = fetch(node, kTarget, place, {AtomicOp::kOr, bytes, 0});
      require(left == word, fmt::format("{} instead of {} at the end", left, word));
      fetch(node, kTarget, place, {AtomicOp::kSwap, bytes, 0});
    }
    Atomic swap{AtomicOp::kCompareSwap, 8, 1, 0};
    require_refused(node.transport.atomic_post(kTarget, {0, 0}, swap), "compare-swap");
  }
  wait_for_all(node);
  if (node.self != kTarget) return;
  for (std::uint64_t at = 0; at < 8192; ++at) {
    require(node.regions[0][at] == std::byte{0}, "nothing else was written");
  }
}

TEST_P(LoopbackTest, AtomicsOnOwnMemoryComputeWhatTheySay) {
  EXPECT_EQ(run_job(job(GetParam(), 1), compute), "");
}

TEST_P(PeersTest, AtomicsOnAPeersMemoryComputeWhatTheySay) {
  EXPECT_EQ(run_job(job(GetParam(), 2), compute), "");
}

// One share of the work on common words: additions, a lock by compare-swap round a plain word,
// bits that each owner flips, and swaps that hand on numbers.
class Share {
 public:
  Share(Node& node, std::uint32_t index, std::uint32_t width)
      : node_(node), index_(index), width_(width) {}

  void work(std::uint64_t rounds) {
    std::uint64_t bit = std::uint64_t{1} << index_;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      fetch(node_, kTarget, at(0), make(AtomicOp::kAdd, 1));
      require_ok(node_.transport.atomic_post(kTarget, at(1), make(AtomicOp::kAdd, 3)));
      require((fetch(node_, kTarget, at(2), make(AtomicOp::kOr, bit)) & bit) == 0, "our bit");
      require((fetch(node_, kTarget, at(2), make(AtomicOp::kAnd, ~bit)) & bit) != 0, "our bit");
      require_ok(node_.transport.atomic_post(kTarget, at(3), make(AtomicOp::kXor, bit)));
      swapped_ ^= fetch(node_, kTarget, at(4), make(AtomicOp::kSwap, 1000 * index_ + round));
      put_in_ ^= 1000 * index_ + round;
      if (round % 4 == 0) add_under_lock();
    }
    require_ok(node_.transport.quiet());
  }
  // Of all numbers put in and taken out by swaps, the last one is left.
  std::uint64_t left_over() const { return swapped_ ^ put_in_; }

 private:
  transport::RemoteAddress at(std::uint64_t index) const { return {0, 64 * width_ + 8 * index}; }
  Atomic make(AtomicOp op, std::uint64_t operand, std::uint64_t expected = 0) const {
    return {op, width_, operand, expected};
  }
  void add_under_lock() {
    while (fetch(node_, kTarget, at(5), make(AtomicOp::kCompareSwap, index_ + 1, 0)) != 0) {
      std::this_thread::yield();
    }
    std::uint64_t count = 0;
    std::span<std::byte> bytes(reinterpret_cast<std::byte*>(&count), width_);
    require_ok(node_.transport.get(kTarget, at(6), bytes));
    ++count;
    require_ok(node_.transport.put(kTarget, at(6), bytes));
    require_ok(node_.transport.fence());
    require_ok(node_.transport.atomic_post(kTarget, at(5), make(AtomicOp::kSwap, 0)));
  }

  Node& node_;
  std::uint32_t index_;
  std::uint32_t width_;
  std::uint64_t swapped_ = 0;
  std::uint64_t put_in_ = 0;
};

// Node 0 works on its own words, node 1 from near or afar, and so on; a handler of each serves.
TEST_P(PeersTest, AtomicsOfAllNodesAndThreadsAreAtomicToEachOther) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 60;
    constexpr std::uint32_t kThreads = 2;
    std::atomic<bool> over{false};
    std::thread handler([&] {
      Recorder recorder;
      while (!over.load()) {
        node.transport.sleep(600'000'000'000);
        node.transport.poll(recorder);
      }
    });
    auto work = [&](std::uint32_t thread) {
      for (std::uint32_t width : {4u, 8u}) {
        Share share(node, kThreads * node.self.value + thread, width);
        share.work(kRounds);
        node.board.words[width].fetch_xor(share.left_over());
      }
    };
    std::thread second(work, 1);
    work(0);
    second.join();
    node.barrier();
    if (node.self == kTarget) {
      std::uint64_t shares = kThreads * node.nodes;
      for (std::uint32_t width : {4u, 8u}) {
        auto word = [&](std::uint64_t index) {
          return word_at(node, 64 * width + 8 * index, width);
        };
        require(word(0) == shares * kRounds, fmt::format("{} additions", word(0)));
        require(word(1) == 3 * shares * kRounds, fmt::format("{} posted additions", word(1)));
        require(word(2) == 0 && word(3) == 0, "all bits are as before");
        require(word(4) == node.board.words[width].load(), "no number is lost");
        require(word(5) == 0, "the lock is free");
        require(word(6) == shares * kRounds / 4, fmt::format("{} under the lock", word(6)));
      }
    }
    node.barrier();
    over.store(true);
    node.transport.interrupt();
    handler.join();
    node.barrier();
  };
  EXPECT_EQ(run_job(job(GetParam(), 4), body), "");
}

// The processor's own instructions on the target's side, against calls from elsewhere.
TEST_P(PeersTest, AtomicsAreAtomicToTheTargetsOwnInstructions) {
  auto body = [](Node& node) {
    constexpr std::uint64_t kRounds = 2000;
    Recorder recorder;
    if (node.self == kTarget) {
      std::atomic<std::uint64_t> own{0};
      std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(node.regions[0]));
      std::thread computing([&] {
        while (node.board.words[0].load() == 0) {
          word.fetch_add(std::uint64_t{1} << 32);
          own.fetch_add(1);
        }
      });
      poll_until(node, recorder, [&] { return node.board.words[0].load() != 0; });
      computing.join();
      require((word.load() & 0xffffffff) == kRounds, "theirs");
      require(word.load() >> 32 == (own.load() & 0xffffffff), "ours");
    } else {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        require_ok(node.transport.atomic_post(kTarget, {0, 0}, {AtomicOp::kAdd, 8, 1}));
        if (round % 100 == 0) require_ok(node.transport.quiet(kTarget));
      }
      require_ok(node.transport.quiet());
      node.board.words[0].store(1);
    }
    wait_for_all(node);
  };
  EXPECT_EQ(run_job(job(GetParam(), 2), body), "");
}

}  // namespace
}  // namespace terrane::conformance
