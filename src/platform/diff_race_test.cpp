#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "platform/diff.h"

// Pages under fire: a second thread stores while the kernels read or write the same words. The
// bytes are atomics here, and the kernels are compiled without ThreadSanitizer, because racing on a
// page's bytes is what they are for.
namespace terrane::platform {
namespace {

constexpr std::size_t kBytes = 32768;
constexpr std::size_t kHotBytes = 256;  // where neighbours fight: small, so that they collide often

struct alignas(64) Page {
  std::atomic<unsigned char> at[kBytes]{};
  std::byte* data() { return reinterpret_cast<std::byte*>(at); }
};

class DiffRaceTest : public testing::TestWithParam<std::size_t> {
 protected:
  const DiffKernels& kernels() const { return all_diff_kernels()[GetParam()]; }
};

// Runs `body` again and again while another thread runs `writer` until that has done its rounds.
template <typename Writer, typename Body>
void race(unsigned rounds, Writer writer, Body body) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    for (unsigned round = 1; round <= rounds; ++round) writer(round);
    done.store(true);
  });
  while (!done.load()) body();
  other.join();
}

// Owns the odd bytes of `home`: each must still hold what this thread stored last.
std::size_t store_odd_bytes(Page& home, unsigned round) {
  std::size_t lost = 0;
  for (std::size_t at = 1; at < kHotBytes; at += 2) {
    lost += home.at[at].load(std::memory_order_relaxed) != static_cast<unsigned char>(round - 1);
    home.at[at].store(static_cast<unsigned char>(round), std::memory_order_relaxed);
  }
  return lost;
}

TEST_P(DiffRaceTest, StoreLosesNoNeighboursByte) {
  Page home, page, twin;
  std::size_t lost = 0;
  unsigned char value = 0;
  race(
      40'000, [&](unsigned round) { lost += store_odd_bytes(home, round); },
      [&] {
        ++value;
        for (std::size_t at = 0; at < kHotBytes; at += 2) page.at[at].store(value);
        kernels().store(page.data(), twin.data(), home.data(), kHotBytes, true);
      });
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(home.at[0].load(), value);
}

TEST_P(DiffRaceTest, ApplyLosesNoNeighboursByte) {
  Page home, page, twin;
  std::vector<std::byte> diff(diff_bound(kHotBytes));
  std::size_t lost = 0;
  unsigned char value = 0;
  bool applied = true;
  race(
      40'000, [&](unsigned round) { lost += store_odd_bytes(home, round); },
      [&] {
        ++value;
        for (std::size_t at = 0; at < kHotBytes; at += 2) page.at[at].store(value);
        std::size_t size = kernels().encode(page.data(), twin.data(), kHotBytes, true, diff.data());
        applied &= kernels().apply(home.data(), kHotBytes, std::span(diff.data(), size));
      });
  EXPECT_TRUE(applied);
  EXPECT_EQ(lost, 0u);
}

// Rounds in which another thread stores every byte of a block once, while this thread calls
// `flush` without pause. What was stored is in a diff, or differs from the twin still: after one
// more flush, home and page are equal.
template <typename Flush>
std::size_t lost_in_rounds(Page& page, Page& home, Flush flush) {
  constexpr unsigned kRounds = 100;
  std::atomic<unsigned> started{0}, finished{0};
  std::thread writer([&] {
    for (unsigned round = 1; round <= kRounds; ++round) {
      for (unsigned looks = 1; started.load() < round; ++looks) {
        if (looks % 16 == 0) std::this_thread::yield();
      }
      for (std::size_t at = 0; at < kBytes; ++at) {
        page.at[at * 67 % kBytes].store(static_cast<unsigned char>(round),
                                        std::memory_order_relaxed);
      }
      finished.store(round);
    }
  });
  std::size_t lost = 0;
  for (unsigned round = 1; round <= kRounds; ++round) {
    started.store(round);
    for (unsigned looks = 1; finished.load() < round; ++looks) {
      flush();
      if (looks % 16 == 0) std::this_thread::yield();
    }
    flush();
    lost += !std::equal(page.data(), page.data() + kBytes, home.data());
  }
  writer.join();
  return lost;
}

TEST_P(DiffRaceTest, AWriteDuringAStoreIsInItOrInALaterOne) {
  Page home, page, twin;
  EXPECT_EQ(
      lost_in_rounds(page, home,
                     [&] { kernels().store(page.data(), twin.data(), home.data(), kBytes, true); }),
      0u);
}

TEST_P(DiffRaceTest, AWriteDuringADiffIsInItOrInALaterOne) {
  Page home, page, twin;
  std::vector<std::byte> diff(diff_bound(kBytes));
  EXPECT_EQ(lost_in_rounds(page, home,
                           [&] {
                             std::size_t size = kernels().encode(page.data(), twin.data(), kBytes,
                                                                 true, diff.data());
                             kernels().apply(home.data(), kBytes, std::span(diff.data(), size));
                           }),
            0u);
}

TEST_P(DiffRaceTest, CopiesOfAMovingBlockAreEqual) {
  Page home, page, twin;
  bool equal = true;
  race(
      100,
      [&](unsigned round) {
        for (auto& byte : home.at) byte.store(static_cast<unsigned char>(round));
      },
      [&] {
        kernels().copy(home.data(), page.data(), twin.data(), kBytes);
        equal &= std::equal(page.data(), page.data() + kBytes, twin.data());
      });
  EXPECT_TRUE(equal);
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, DiffRaceTest,
                         testing::Range<std::size_t>(0, all_diff_kernels().size()),
                         [](const auto& info) {
                           return std::string(all_diff_kernels()[info.param].name);
                         });

}  // namespace
}  // namespace terrane::platform
