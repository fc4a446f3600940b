#include "runtime/memory_statistics.h"

#include <gtest/gtest.h>

#include "runtime/statistics.h"

namespace terrane::runtime {
namespace {

TEST(MemoryStatisticsTest, AllocationsAreToldApartByTheirNames) {
  EXPECT_EQ(program_memory_of("small blocks"), ProgramMemory::kAllocated);
  EXPECT_EQ(program_memory_of("a.out+0x12"), ProgramMemory::kAllocated);
  EXPECT_EQ(program_memory_of("static data"), ProgramMemory::kStatic);
  EXPECT_EQ(program_memory_of("stack"), ProgramMemory::kStack);
  EXPECT_EQ(program_memory_of("map a.out+0x12"), ProgramMemory::kMapping);
  EXPECT_EQ(program_memory_of("file r a.out+0x12"), ProgramMemory::kMapping);
}

TEST(MemoryStatisticsTest, ANodeThatWasNeverFullHasOneLine) {
  MemoryLine line;
  line.homes[0] = 2048;
  EXPECT_EQ(memory_text(line),
            "  memory at the end: homes 2 KiB allocated, 0 KiB static, 0 KiB mapped, 0 KiB of "
            "stacks; copies 0 KiB\n");
  line.limit = 4096;
  line.evicted = 3;
  line.refetched = 2;
  EXPECT_NE(memory_text(line).find("; limit 4 KiB\n  full: 0 pages given to other nodes, 0 taken "
                                   "from them, 3 copies evicted, 2 of them fetched again\n"),
            std::string::npos);
}

TEST(MemoryStatisticsTest, OnlyWhatWasEvictedIsFetchedAgain) {
  SiteCounters sites(std::uint64_t{1} << 24, 4096, 1);
  sites.note_fetched({8, 4}, NodeId{0});
  EXPECT_EQ(sites.refetched(), 0u);
  sites.note_evicted(9);
  sites.note_evicted(20);
  sites.note_fetched({8, 4}, NodeId{0});
  sites.note_fetched({8, 4}, NodeId{0});
  EXPECT_EQ(sites.refetched(), 1u);
  EXPECT_EQ(sites.of(8).fetched, 12u);
}

}  // namespace
}  // namespace terrane::runtime
