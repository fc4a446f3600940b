#include "runtime/page_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "runtime/page_steps.h"
#include "runtime/thread_context.h"

namespace terrane::runtime {
namespace {

using protocol::BlockRange;

// One node's pages on every fault source, with panes; each fault populates and maps the block, by
// the steps that the protocol would take.
class PanesTest : public testing::TestWithParam<platform::FaultSourceKind> {
 protected:
  void SetUp() override {
    platform::FaultSourceSupport support = platform::probe_fault_sources();
    if (!support.has(GetParam())) GTEST_SKIP() << support.reason;
    Options options;
    options.space_bytes = 1 << 20;
    options.fault_source = GetParam();
    auto made = PageSpace::create(options, NodeId{0}, 1);
    ASSERT_TRUE(made.ok());
    space = std::move(made).value();
    space->protocol_memory();
    ASSERT_TRUE(space->watch(&PanesTest::on_fault, this).ok());
    auto* at = static_cast<std::byte*>(mmap(nullptr, 16 * space->unit(), PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    first = at;
    second = at + 8 * space->unit();
    ASSERT_TRUE(space->place({{{24, 4}, second}, {{8, 8}, first}}).ok());
  }

  static platform::FaultVerdict on_fault(void* context, std::uint64_t offset,
                                         platform::Access wanted) {
    auto& test = *static_cast<PanesTest*>(context);
    std::uint64_t block = offset / test.space->unit();
    test.faults.push_back(block);
    test.step(protocol::Populate{{block, 1}});
    test.step(protocol::Map{{block, 1}, protocol::Access::kWrite});
    bool was_there = wanted == platform::Access::kWrite && !test.scans();
    if (was_there) test.step(protocol::Unprotect{{block, 1}});
    return platform::FaultVerdict::kRetry;
  }

  bool scans() const { return space->detection() == protocol::WriteDetection::kScan; }
  template <typename Kind>
  void step(Kind step) {
    PageSteps(*space, context.counters).perform(step);
  }
  volatile unsigned char& at(std::uint64_t block) {
    return *reinterpret_cast<volatile unsigned char*>(space->address_of(block));
  }
  // Blocks that a scan or a fault says were written since they were protected.
  std::vector<std::uint64_t> written(BlockRange blocks) {
    if (!scans()) return std::exchange(faults, {});
    std::vector<BlockRange> runs;
    step(protocol::Scan{blocks, &runs});
    std::vector<std::uint64_t> all;
    for (const BlockRange& run : runs)
      for (std::uint64_t b = run.first; b < run.end(); ++b) all.push_back(b);
    return all;
  }

  ThreadRegistry threads;
  ThreadContext& context = threads.current();
  std::unique_ptr<PageSpace> space;
  std::byte* first = nullptr;
  std::byte* second = nullptr;
  std::vector<std::uint64_t> faults;
};

TEST_P(PanesTest, BlocksOfPanesHaveTheirAddresses) {
  EXPECT_EQ(space->address_of(8), first);
  EXPECT_EQ(space->address_of(15), first + 7 * space->unit());
  EXPECT_EQ(space->address_of(24), second);
  EXPECT_EQ(space->address_of(7), space->mapping().app() + 7 * space->unit());
  EXPECT_EQ(space->address_of(16), space->mapping().app() + 16 * space->unit());
  EXPECT_EQ(space->offset_of(first, 8 * space->unit()), 8 * space->unit());
  EXPECT_FALSE(space->offset_of(space->mapping().app(), 9 * space->unit()))
      << "block 8 lies elsewhere";
}

TEST_P(PanesTest, StepsAreCutAtTheEdgesOfPanes) {
  BlockRange all{4, 28};
  step(protocol::Populate{all});
  step(protocol::Map{all, protocol::Access::kWrite});
  for (std::uint64_t b = 4; b < 32; ++b) at(b) = static_cast<unsigned char>(b);
  EXPECT_TRUE(faults.empty()) << "all of them were mapped by one step";
  step(protocol::Protect{all});
  if (scans()) {
    EXPECT_TRUE(written(all).empty());
  }
  for (std::uint64_t b : {7, 8, 15, 16, 23, 24, 27, 28}) at(b) = 99;
  EXPECT_EQ(written(all), (std::vector<std::uint64_t>{7, 8, 15, 16, 23, 24, 27, 28}));
  step(protocol::Zap{all});
  faults.clear();
  for (std::uint64_t b = 4; b < 32; ++b) {
    bool changed = b == 7 || b == 8 || b == 15 || b == 16 || b == 23 || b == 24 || b >= 27;
    if (b != 25 && b != 26 && b < 29) {
      EXPECT_EQ(at(b), changed ? 99 : b);
    }
  }
  EXPECT_EQ(faults.size(), 23u) << "each came back by a fault";
}

TEST_P(PanesTest, PunchedBlocksOfPanesReadAsZeros) {
  at(8) = 7;
  at(7) = 7;
  step(protocol::Zap{{7, 2}});
  step(protocol::Punch{{7, 2}});
  EXPECT_EQ(at(8), 0);
  EXPECT_EQ(at(7), 0);
}

INSTANTIATE_TEST_SUITE_P(EverySource, PanesTest,
                         testing::Values(platform::FaultSourceKind::kUserfaultfdAsync,
                                         platform::FaultSourceKind::kUserfaultfdSync,
                                         platform::FaultSourceKind::kSigsegv));

}  // namespace
}  // namespace terrane::runtime
