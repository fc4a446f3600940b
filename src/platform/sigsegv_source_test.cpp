#include <gtest/gtest.h>

#include <vector>

#include "platform/fault_test_space.h"
#include "platform/map_count.h"

namespace terrane::platform {
namespace {

constexpr FaultSourceKind kKind = FaultSourceKind::kSigsegv;

TEST(SigsegvSourceTest, TheKernelKeepsOneMappingForEqualNeighbours) {
  FaultTestSpace space(kKind, 4096);
  std::uint64_t before = current_map_count();
  space.map(0, 2048, Access::kRead);
  EXPECT_EQ(current_map_count(), before + 1);
  for (std::size_t page = 0; page < 2048; page += 2) space.app(page) = 1;
  EXPECT_EQ(current_map_count(), before + 2048);
  space.source().protect(FaultTestSpace::span(0, 2048));
  EXPECT_EQ(current_map_count(), before + 1);
  space.source().zap(FaultTestSpace::span(0, 4096));
  EXPECT_EQ(current_map_count(), before);
}

// Three times as many runs as a process may have mappings: nothing is lost, and nothing is granted
// that was not asked for.
TEST(SigsegvSourceTest, AlternatingProtectionsOnManyPagesKeepWithinTheLimit) {
  constexpr std::size_t kPages = 200'000;
  FaultTestSpace space(kKind, kPages);
  space.source().map(FaultTestSpace::span(0, kPages), Access::kRead);
  for (std::size_t page = 0; page < kPages; page += 2) space.app(page) = 200;
  EXPECT_LT(current_map_count(), max_map_count());
  std::size_t wrong = 0;
  for (std::size_t page = 0; page < kPages; page += 2) {
    wrong += space.runtime(page) != 200;
    if (page % 30 == 0) wrong += space.app(page) != 200;
  }
  EXPECT_EQ(wrong, 0u);
  std::uint64_t before = space.faults();
  for (std::size_t page = 1; page < kPages; page += 4) space.app(page) = 100;
  EXPECT_GE(space.faults() - before, kPages / 4);  // each first write was noticed
  for (std::size_t page = 1; page < kPages; page += 4) wrong += space.runtime(page) != 100;
  EXPECT_EQ(wrong, 0u);
  EXPECT_LT(current_map_count(), max_map_count());
}

TEST(SigsegvSourceTest, WhereTheProgramTakesTheMappingsItMakesDoWithFew) {
  constexpr std::size_t kPages = 30'000;
  FaultTestSpace space(kKind, kPages);
  for (std::size_t page = 0; page < kPages; page += 2) space.app(page) = 1;
  ManyMappings taken(max_map_count() - current_map_count() - 20);
  for (std::size_t page = 1; page < kPages; page += 2) {
    space.source().map(FaultTestSpace::span(page, 1), Access::kRead);
    if (page % 4 == 1) space.source().zap(FaultTestSpace::span(page - 1, 1));
  }
  std::size_t wrong = 0;
  for (std::size_t page = 0; page < kPages; page += 2) wrong += space.app(page) != 1;
  EXPECT_EQ(wrong, 0u);
}

TEST(SigsegvSourceTest, CodeIsNotRunFromSharedMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto run = [] {
    signal(SIGSEGV, SIG_DFL);
    FaultTestSpace space(kKind, 4);
    space.map(1, 1, Access::kRead);
    reinterpret_cast<void (*)()>(space.mapping().app() + page_bytes())();
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "invalid access");
}

}  // namespace
}  // namespace terrane::platform
