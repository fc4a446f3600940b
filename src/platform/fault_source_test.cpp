#include "platform/fault_source.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "platform/fault_test_space.h"

namespace terrane::platform {
namespace {

using Pages = std::vector<std::size_t>;

class FaultSourceTest : public testing::TestWithParam<FaultSourceKind> {
 protected:
  void SetUp() override {
    FaultSourceSupport support = probe_fault_sources();
    if (!support.has(GetParam())) GTEST_SKIP() << support.reason;
  }
};

TEST_P(FaultSourceTest, AHoleFaultsInsteadOfReadingZeros) {
  FaultTestSpace space(GetParam(), 8);
  EXPECT_EQ(space.app(5), FaultTestSpace::mark(5));
  EXPECT_EQ(space.app(5, 100), FaultTestSpace::mark(5));
  EXPECT_EQ(space.faults(), 1u);
}

TEST_P(FaultSourceTest, AZappedPageFaultsAgainAndKeepsItsData) {
  FaultTestSpace space(GetParam(), 8);
  space.app(2) = 77;
  std::uint64_t before = space.faults();
  space.source().zap(FaultTestSpace::span(2, 1));
  EXPECT_EQ(space.runtime(2), 77);
  EXPECT_EQ(space.app(2), 77);
  EXPECT_EQ(space.faults(), before + 1);
}

TEST_P(FaultSourceTest, APunchedPageFaultsAndItsMemoryIsGone) {
  FaultTestSpace space(GetParam(), 8);
  space.app(2) = 77;
  std::uint64_t before = space.faults();
  space.source().zap(FaultTestSpace::span(2, 1));
  space.mapping().punch(FaultTestSpace::span(2, 1));
  EXPECT_EQ(space.runtime(2), 0);
  EXPECT_EQ(space.app(2), 0);
  EXPECT_EQ(space.faults(), before + 1);
}

TEST_P(FaultSourceTest, ReadAndWriteFaultsAreToldApart) {
  FaultTestSpace space(GetParam(), 8);
  space.read(0);
  EXPECT_EQ(space.last_access(), Access::kRead);
  space.app(1) = 1;
  EXPECT_EQ(space.last_access(), Access::kWrite);
  space.read(2);
  __atomic_fetch_add(&space.app(3), 1, __ATOMIC_SEQ_CST);
  EXPECT_EQ(space.last_access(), Access::kWrite);
}

TEST_P(FaultSourceTest, TheFirstWriteToAProtectedPageIsDetected) {
  FaultTestSpace space(GetParam(), 8);
  space.map(0, 8, Access::kRead);
  space.app(3) = 9;
  if (space.scans()) {
    EXPECT_EQ(space.faults(), 0u);
    EXPECT_EQ(space.written(0, 8), Pages{3});
  } else {
    EXPECT_EQ(space.faults(), 1u);
    EXPECT_EQ(space.last_access(), Access::kWrite);
  }
  EXPECT_EQ(space.runtime(3), 9);
}

TEST_P(FaultSourceTest, WritesToAPageMappedForWritingPassUnnoticedUntilItIsProtected) {
  FaultTestSpace space(GetParam(), 8);
  space.map(0, 8, Access::kWrite);
  space.app(3) = 9;
  EXPECT_EQ(space.faults(), 0u);
  space.source().protect(FaultTestSpace::span(0, 8));
  space.app(4) = 9;
  if (space.scans()) {
    EXPECT_EQ(space.written(0, 8), Pages{4});
  } else {
    EXPECT_EQ(space.faults(), 1u);
  }
}

TEST_P(FaultSourceTest, UnprotectLetsWritesPassAgain) {
  FaultTestSpace space(GetParam(), 8);
  space.map(0, 8, Access::kRead);
  space.source().unprotect(FaultTestSpace::span(0, 8));
  for (std::size_t page = 0; page < 8; ++page) space.app(page) = 1;
  EXPECT_EQ(space.faults(), 0u);
}

TEST_P(FaultSourceTest, WritesOfTheRuntimeAreNotTheProgramsWrites) {
  FaultTestSpace space(GetParam(), 8);
  space.map(0, 8, Access::kRead);
  space.runtime(3) = 9;
  EXPECT_EQ(space.app(3), 9);
  EXPECT_EQ(space.faults(), 0u);
  if (space.scans()) {
    EXPECT_EQ(space.written(0, 8), Pages{});
  }
}

TEST_P(FaultSourceTest, ProtectLeavesMissingPagesMissing) {
  FaultTestSpace space(GetParam(), 8);
  space.source().protect(FaultTestSpace::span(0, 8));
  EXPECT_EQ(space.app(1), FaultTestSpace::mark(1));
  EXPECT_EQ(space.faults(), 1u);
}

TEST_P(FaultSourceTest, MapStepsOverEntriesThatAreThere) {
  FaultTestSpace space(GetParam(), 64);
  for (std::size_t page : {0, 1, 5, 6, 7, 20, 63}) space.map(page, 1, Access::kWrite);
  space.map(0, 64, Access::kRead);
  for (std::size_t page = 0; page < 64; ++page) space.app(page) = 1;
  if (space.scans()) {
    EXPECT_EQ(space.faults(), 0u);
  } else {
    EXPECT_EQ(space.faults(), 64u - 7);  // those that were there kept their right to be written
  }
}

// The program's mprotect makes several mappings of the view.
TEST_P(FaultSourceTest, ARangeWithOtherRightsInItIsEnteredAsAWhole) {
  if (GetParam() == FaultSourceKind::kSigsegv) GTEST_SKIP() << "it works by rights itself";
  FaultTestSpace space(GetParam(), 16);
  auto* other = space.mapping().app() + 5 * page_bytes();
  ASSERT_EQ(mprotect(other, page_bytes(), PROT_READ | PROT_EXEC), 0);
  space.map(0, 12, Access::kRead);
  for (std::size_t page = 0; page < 12; ++page) EXPECT_EQ(space.app(page), 0);
  EXPECT_EQ(space.faults(), 0u);
  std::vector<std::byte> bytes(16 * page_bytes(), std::byte{7});
  ASSERT_EQ(mprotect(other + 8 * page_bytes(), page_bytes(), PROT_READ), 0);
  ASSERT_TRUE(space.source().fill(FaultTestSpace::span(12, 4), bytes.data(), Access::kRead));
  for (std::size_t page = 12; page < 16; ++page) EXPECT_EQ(space.app(page), 7);
  EXPECT_EQ(space.faults(), 0u);
}

TEST_P(FaultSourceTest, LargeRangesTakeOneCall) {
  constexpr std::size_t kPages = 4096;
  FaultTestSpace space(GetParam(), kPages);
  space.map(0, kPages, Access::kRead);
  for (std::size_t page = 0; page < kPages; page += 2) space.app(page) = 1;
  if (space.scans()) {
    Pages written = space.written(0, kPages);  // more runs than one call of the kernel reports
    ASSERT_EQ(written.size(), kPages / 2);
    for (std::size_t at = 0; at < written.size(); ++at) ASSERT_EQ(written[at], 2 * at);
  } else {
    EXPECT_EQ(space.faults(), kPages / 2);
  }
  std::uint64_t before = space.faults();
  space.source().zap(FaultTestSpace::span(0, kPages));
  for (std::size_t page = 0; page < kPages; page += 64) EXPECT_EQ(space.app(page), 1);
  EXPECT_EQ(space.faults(), before + kPages / 64);
}

TEST_P(FaultSourceTest, FillTakesFreshAndRecycledPages) {
  FaultTestSpace space(GetParam(), 8);
  space.map(2, 1, Access::kRead);
  space.map(5, 2, Access::kRead);
  space.source().zap(FaultTestSpace::span(0, 8));
  std::vector<std::byte> source(8 * page_bytes());
  for (std::size_t at = 0; at < source.size(); ++at) {
    source[at] = static_cast<std::byte>(at / page_bytes() + 40);
  }
  ASSERT_TRUE(space.source().fill(FaultTestSpace::span(0, 8), source.data(), Access::kRead));
  for (std::size_t page = 0; page < 8; ++page) {
    EXPECT_EQ(space.app(page), page + 40);
    EXPECT_EQ(space.runtime(page, 4000), page + 40);
  }
  EXPECT_EQ(space.faults(), 0u);
  space.app(6) = 1;
  if (space.scans()) {
    EXPECT_EQ(space.written(0, 8), Pages{6});
  } else {
    EXPECT_EQ(space.faults(), 1u);
  }
}

TEST_P(FaultSourceTest, SeveralThreadsMayFaultOnOnePage) {
  constexpr std::size_t kPages = 128;
  FaultTestSpace space(GetParam(), kPages);
  std::atomic<std::size_t> wrong{0};
  auto work = [&](std::size_t thread) {
    ensure_signal_stack();
    for (std::size_t page = 0; page < kPages; ++page) {
      wrong += space.app(page, 64 + thread) != FaultTestSpace::mark(page);
      space.app(page, 8 + thread) = static_cast<unsigned char>(thread);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  for (std::size_t page = 0; page < kPages; ++page) {
    for (std::size_t thread = 0; thread < 4; ++thread) {
      EXPECT_EQ(space.runtime(page, 8 + thread), thread);
    }
  }
}

TEST_P(FaultSourceTest, ErrnoSurvivesAFault) {
  FaultTestSpace space(GetParam(), 8);
  errno = ERANGE;
  space.read(0);
  EXPECT_EQ(errno, ERANGE);
}

TEST_P(FaultSourceTest, SeveralSpacesLiveSideBySide) {
  FaultTestSpace first(GetParam(), 8);
  {
    FaultTestSpace second(GetParam(), 8);
    EXPECT_EQ(first.app(1) + second.app(2), FaultTestSpace::mark(1) + FaultTestSpace::mark(2));
    EXPECT_EQ(second.faults(), 1u);
  }
  FaultTestSpace third(GetParam(), 8);
  EXPECT_EQ(third.app(3), FaultTestSpace::mark(3));
  EXPECT_EQ(first.app(4), FaultTestSpace::mark(4));
}

TEST_P(FaultSourceTest, TheWholeDefaultSpaceCanBeWatched) {
  SpaceLayout layout = default_space_layout();
  FaultTestSpace space(GetParam(), layout.bytes / page_bytes(),
                       reinterpret_cast<void*>(layout.base));
  std::size_t last = layout.bytes / page_bytes() - 1;
  EXPECT_EQ(space.app(0), FaultTestSpace::mark(0));
  EXPECT_EQ(space.app(last), FaultTestSpace::mark(last));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&space.app(0)), layout.base);
}

INSTANTIATE_TEST_SUITE_P(EverySource, FaultSourceTest,
                         testing::Values(FaultSourceKind::kUserfaultfdAsync,
                                         FaultSourceKind::kUserfaultfdSync,
                                         FaultSourceKind::kSigsegv),
                         fault_source_name);

}  // namespace
}  // namespace terrane::platform
