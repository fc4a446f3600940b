#include "runtime/page_writes.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace terrane::runtime {
namespace {

TEST(PageWritesTest, PagesAreKeptWithTheirPhases) {
  PageWrites writes(std::uint64_t{1} << 28);
  writes.note_written({3, 2});  // before the first phase
  writes.note_flushed(3);
  writes.set_phase(2);
  writes.note_written({5, 2});
  writes.note_flushed(6);
  writes.note_flushed(6);
  writes.note_flushed(9);  // a block that was not written in a phase is not reported
  writes.set_phase(63);
  writes.note_written({6, 1});
  writes.set_phase(64);  // one of those beyond the room
  writes.note_written({7, 1});
  writes.note_written({std::uint64_t{1} << 27, 1});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::uint64_t flushes = 0;
  writes.for_each([&](std::uint64_t block, const PageWrites::Page& page) {
    seen.emplace_back(block, page.phases);
    flushes += page.flushes;
  });
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(seen, (std::vector<Pair>{{5, 4}, {6, std::uint64_t{1} << 63 | 4}}));
  EXPECT_EQ(flushes, 2u);
}

}  // namespace
}  // namespace terrane::runtime
