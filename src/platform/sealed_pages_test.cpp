#include "platform/sealed_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "platform/fault_test_space.h"
#include "platform/map_count.h"

namespace terrane::platform {
namespace {

class ShareTest : public testing::TestWithParam<FaultSourceKind> {
 protected:
  void SetUp() override {
    FaultSourceSupport support = probe_fault_sources();
    if (!support.has(GetParam())) GTEST_SKIP() << support.reason;
  }
};

TEST_P(ShareTest, ASharedPageIsReadAndItsNextStoreFaults) {
  FaultTestSpace space(GetParam(), 8);
  space.share(2, 1);
  space.read(2);
  EXPECT_EQ(space.faults(), 0u);
  space.app(2) = 5;
  EXPECT_EQ(space.faults(), 1u);
  EXPECT_EQ(space.last_access(), Access::kWrite);
  space.app(2, 9) = 6;
  EXPECT_EQ(space.faults(), 1u);
  EXPECT_EQ(space.runtime(2), 5);
}

TEST_P(ShareTest, APageThatIsWrittenCanBeSharedAgain) {
  FaultTestSpace space(GetParam(), 8);
  space.map(0, 8, Access::kWrite);
  space.app(4) = 1;
  for (unsigned char round = 2; round < 12; ++round) {
    std::uint64_t before = space.faults();
    space.share(4, 1);
    EXPECT_EQ(space.app(4), round - 1);
    space.app(3) = round;  // beside it
    space.app(5) = round;
    if (space.scans()) {
      EXPECT_EQ(space.faults(), before);
    }
    before = space.faults();
    space.app(4) = round;
    EXPECT_EQ(space.faults(), before + 1);
  }
}

TEST_P(ShareTest, AZappedPageIsAnOrdinaryOneAgain) {
  FaultTestSpace space(GetParam(), 8);
  space.share(0, 4);
  space.source().zap(FaultTestSpace::span(0, 4));
  space.map(0, 4, Access::kWrite);
  for (std::size_t page = 0; page < 4; ++page) space.app(page) = 3;
  EXPECT_EQ(space.faults(), 0u);
}

TEST_P(ShareTest, MissingPagesOfASharedSpanFault) {
  FaultTestSpace space(GetParam(), 8);
  space.share(1, 3);
  space.source().zap(FaultTestSpace::span(2, 1));
  EXPECT_EQ(space.app(1), 0);
  EXPECT_EQ(space.faults(), 0u);
  EXPECT_EQ(space.app(2), 0);
  EXPECT_EQ(space.faults(), 1u);
}

// A reader and a writer of pages that are shared and taken back all the time.
TEST_P(ShareTest, NoStoreToASharedPagePasses) {
  FaultTestSpace space(GetParam(), 4);
  space.map(0, 4, Access::kWrite);
  auto load = [&](std::size_t page) { return __atomic_load_n(&space.app(page), __ATOMIC_RELAXED); };
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (unsigned round = 0; !over.load(); ++round)
      __atomic_store_n(&space.app(round % 4), static_cast<unsigned char>(round), __ATOMIC_RELAXED);
  });
  for (int round = 0; round < 300; ++round) {
    std::size_t page = static_cast<std::size_t>(round % 4);
    std::uint64_t before = space.faults();
    space.share(page, 1);
    unsigned char was = load(page);
    bool changed = load(page) != was;
    EXPECT_TRUE(!changed || space.faults() > before);
  }
  over = true;
  writer.join();
}

INSTANTIATE_TEST_SUITE_P(EverySource, ShareTest,
                         testing::Values(FaultSourceKind::kUserfaultfdAsync,
                                         FaultSourceKind::kUserfaultfdSync,
                                         FaultSourceKind::kSigsegv),
                         fault_source_name);

class SealedPagesTest : public testing::Test {
 protected:
  static constexpr FaultSourceKind kKind = FaultSourceKind::kUserfaultfdAsync;
  void SetUp() override {
    FaultSourceSupport support = probe_fault_sources();
    if (!support.has(kKind)) GTEST_SKIP() << support.reason;
  }
};

// Three times as many runs as a process may have mappings.
TEST_F(SealedPagesTest, ManyKeepWithinTheLimitOfMappings) {
  constexpr std::size_t kPages = 200'000;
  FaultTestSpace space(kKind, kPages);
  space.map(0, kPages, Access::kRead);
  for (std::size_t page = 0; page < kPages; page += 2) space.share(page, 1);
  EXPECT_LT(current_map_count(), max_map_count());
  std::uint64_t before = space.faults();
  for (std::size_t page = 0; page < kPages; page += 2) space.app(page) = 100;
  EXPECT_GE(space.faults() - before, kPages / 2);  // each store to a shared page was noticed
  std::size_t wrong = 0;
  for (std::size_t page = 0; page < kPages; page += 2) wrong += space.runtime(page) != 100;
  EXPECT_EQ(wrong, 0u);
  EXPECT_LT(current_map_count(), max_map_count());
}

TEST_F(SealedPagesTest, WhereTheProgramTakesTheMappingsFewAreSealed) {
  constexpr std::size_t kPages = 30'000;
  FaultTestSpace space(kKind, kPages);
  space.map(0, kPages, Access::kRead);
  ManyMappings taken(max_map_count() - current_map_count() - 60);
  for (std::size_t page = 0; page < kPages; page += 2) space.share(page, 1);
  std::uint64_t before = space.faults();
  for (std::size_t page = 0; page < kPages; page += 2) space.app(page) = 1;
  EXPECT_GE(space.faults() - before, kPages / 2);
}

// A child of fork does not have the view, so each makes its own.
TEST_F(SealedPagesTest, WhatTheProgramForbidsStaysForbidden) {
  auto store_to_what_was_shared = [](std::size_t page, int rights) {
    FaultTestSpace space(kKind, 8);
    space.map(0, 8, Access::kWrite);
    space.share(2, 1);
    space.source().set_rights(FaultTestSpace::span(0, 4), rights);
    space.read(2);
    space.source().unprotect(FaultTestSpace::span(2, 1));
    space.share(3, 1);
    space.app(page) = 1;
  };
  EXPECT_DEATH(store_to_what_was_shared(2, PROT_READ), "forbidden it by mprotect");
  EXPECT_DEATH(store_to_what_was_shared(3, PROT_READ), "forbidden it by mprotect");
  EXPECT_DEATH(store_to_what_was_shared(1, PROT_NONE), "forbidden it by mprotect");
  store_to_what_was_shared(3, PROT_READ | PROT_WRITE);
}

TEST_F(SealedPagesTest, RightsOfTheProgramComeBackWithoutASeal) {
  constexpr int kAll = PROT_READ | PROT_WRITE;
  auto forbid_some = [](FaultTestSpace& space) {
    space.share(0, 8);
    space.source().set_rights(FaultTestSpace::span(1, 3), PROT_NONE);
    space.source().set_rights(FaultTestSpace::span(2, 1), kAll);
  };
  auto read_one = [&](std::size_t page) {
    FaultTestSpace space(kKind, 8);
    forbid_some(space);
    space.read(page);
  };
  EXPECT_DEATH(read_one(1), "forbidden it by mprotect");
  EXPECT_DEATH(read_one(3), "forbidden it by mprotect");
  FaultTestSpace space(kKind, 8);
  forbid_some(space);
  EXPECT_EQ(space.app(2), 0);
  space.app(2) = 8;
  EXPECT_GE(space.faults(), 2u);  // it had left the view, and was shared again
  ASSERT_EQ(space.source().set_rights(FaultTestSpace::span(0, 8), kAll), 0);
  for (std::size_t page = 0; page < 8; ++page) space.app(page) = 9;
  for (std::size_t page = 0; page < 8; ++page) EXPECT_EQ(space.runtime(page), 9);
}

TEST_F(SealedPagesTest, RightsThatTheKernelRefusesChangeNothing) {
  FaultTestSpace space(kKind, 4);
  space.share(0, 4);
  EXPECT_EQ(space.source().set_rights(FaultTestSpace::span(0, 4), 1 << 20), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(space.app(1), 0);
  space.app(1) = 4;
  EXPECT_EQ(space.last_access(), Access::kWrite);
  EXPECT_EQ(space.runtime(1), 4);
}

}  // namespace
}  // namespace terrane::platform
