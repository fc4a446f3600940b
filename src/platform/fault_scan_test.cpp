#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "platform/fault_test_space.h"

namespace terrane::platform {
namespace {

using Pages = std::vector<std::size_t>;

class ScanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!probe_fault_sources().async_protect) GTEST_SKIP() << probe_fault_sources().reason;
  }
};

TEST_F(ScanTest, AMissingPageIsReportedOnceIfItWasWrittenWhenItWent) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 4096);
  space.map(10, 4, Access::kRead);
  space.app(11) = 1;
  space.app(13) = 1;
  space.source().zap(FaultTestSpace::span(13, 1));  // written when it went
  space.source().zap(FaultTestSpace::span(10, 1));  // clean when it went
  EXPECT_EQ(space.written(10, 4), (Pages{11, 13}));
  EXPECT_EQ(space.written(10, 4), Pages{});
}

TEST_F(ScanTest, AScanProtectsWhatItReports) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 16);
  space.map(0, 16, Access::kRead);
  space.app(4) = 1;
  EXPECT_EQ(space.written(0, 16), Pages{4});
  EXPECT_EQ(space.written(0, 16), Pages{});
  space.app(4) = 2;
  space.app(5) = 2;
  EXPECT_EQ(space.written(5, 11), Pages{5});
  EXPECT_EQ(space.written(0, 16), Pages{4});
  EXPECT_EQ(space.faults(), 0u);
}

TEST_F(ScanTest, NeighbouringWrittenPagesMakeOneRun) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 4096);
  space.map(0, 4096, Access::kRead);
  for (std::size_t page = 100; page < 3000; ++page) space.app(page) = 1;
  std::vector<Span> runs;
  space.source().scan(FaultTestSpace::span(0, 4096), runs);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].offset, 100 * page_bytes());
  EXPECT_EQ(runs[0].bytes, 2900 * page_bytes());
}

TEST_F(ScanTest, RunsAreAppendedAndNotJoinedToTheCallersOwn) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 16);
  space.map(0, 16, Access::kRead);
  space.app(4) = 1;
  std::vector<Span> runs{FaultTestSpace::span(3, 1)};
  space.source().scan(FaultTestSpace::span(0, 16), runs);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].offset, 4 * page_bytes());
}

TEST_F(ScanTest, ALookNamesTheSameRunsAndLeavesThemToTheScan) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 4096);
  space.map(0, 4096, Access::kRead);
  for (std::size_t page = 100; page < 3000; page += 2) space.app(page) = 1;
  for (int times = 0; times < 2; ++times) {
    std::vector<Span> runs{FaultTestSpace::span(90, 1)};
    space.source().look(FaultTestSpace::span(0, 4096), runs);
    ASSERT_EQ(runs.size(), 1u + 1450u) << times;
    EXPECT_EQ(runs[1].offset, 100 * page_bytes());
    EXPECT_EQ(runs[1].bytes, page_bytes());
  }
  EXPECT_EQ(space.written(0, 4096).size(), 1450u);
  std::vector<Span> runs;
  space.source().look(FaultTestSpace::span(0, 4096), runs);
  EXPECT_TRUE(runs.empty());
  space.app(102) = 2;
  space.source().look(FaultTestSpace::span(0, 4096), runs);
  EXPECT_EQ(runs.size(), 1u);
}

TEST_F(ScanTest, AZappedPageMappedAgainIsCleanAndWatched) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 16);
  space.map(0, 16, Access::kRead);
  space.app(4) = 1;
  space.source().zap(FaultTestSpace::span(4, 1));
  space.source().map(FaultTestSpace::span(4, 1), Access::kRead);
  EXPECT_EQ(space.written(0, 16), Pages{});
  space.app(4) = 2;
  EXPECT_EQ(space.written(0, 16), Pages{4});
}

TEST_F(ScanTest, AWriteMissMappedForWritingIsReportedOnceAndWatchedAfter) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 16);
  space.map(0, 16, Access::kRead);
  space.source().zap(FaultTestSpace::span(4, 1));
  space.source().map(FaultTestSpace::span(4, 1), Access::kWrite);
  space.app(4) = 1;
  EXPECT_EQ(space.written(0, 16), Pages{4});
  EXPECT_EQ(space.written(0, 16), Pages{});
  space.app(4) = 2;
  EXPECT_EQ(space.written(0, 16), Pages{4});
}

TEST_F(ScanTest, AProtectedHoleMappedForWritingIsNotWatched) {
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, 16);
  space.source().protect(FaultTestSpace::span(0, 16));
  space.map(0, 16, Access::kWrite);
  EXPECT_EQ(space.written(0, 16).size(), 16u);  // never protected since: reads as written
}

// Each of many writes is either in a scan or after it: the last value is always seen by the scan
// that follows.
TEST_F(ScanTest, AWriteDuringAScanIsReportedThenOrLater) {
  constexpr std::size_t kPages = 64;
  FaultTestSpace space(FaultSourceKind::kUserfaultfdAsync, kPages);
  space.map(0, kPages, Access::kRead);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (unsigned round = 0; round < 3000; ++round) {
      __atomic_store_n(&space.app(round % kPages), static_cast<unsigned char>(round),
                       __ATOMIC_RELAXED);
    }
    done.store(true);
  });
  unsigned char seen[kPages] = {};
  auto take = [&] {
    for (std::size_t page : space.written(0, kPages)) {
      seen[page] = __atomic_load_n(&space.runtime(page), __ATOMIC_RELAXED);
    }
  };
  while (!done.load()) take();
  writer.join();
  take();
  for (std::size_t page = 0; page < kPages; ++page) EXPECT_EQ(seen[page], space.runtime(page));
}

}  // namespace
}  // namespace terrane::platform
