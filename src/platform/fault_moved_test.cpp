#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "platform/fault_test_space.h"

#ifndef MADV_PAGEOUT  // Linux 5.4
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE  // Linux 6.1
#define MADV_COLLAPSE 25
#endif

// The kernel may take an entry out of a view at any time: it moves pages, joins them to large ones,
// splits these again, or writes them out.
namespace terrane::platform {
namespace {

constexpr std::size_t kPages = 2 * 512;  // two large pages
constexpr std::size_t kWritten[] = {3, 77, 600};

// Another process's mapping of the memory file, say: one that has no mark of ours.
class Stranger {
 public:
  explicit Stranger(const DualMapping& mapping) {
    void* whole = mmap(nullptr, bytes_ + kLargePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto at = reinterpret_cast<std::uintptr_t>(whole);
    void* place = reinterpret_cast<void*>((at + kLargePage - 1) / kLargePage * kLargePage);
    view_ = mmap(place, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, mapping.fd(), 0);
  }
  ~Stranger() { munmap(view_, bytes_); }
  bool collapses() { return madvise(view_, bytes_, MADV_COLLAPSE) == 0; }

 private:
  std::uint64_t bytes_ = kPages * page_bytes();
  void* view_ = nullptr;
};

class MovedPages : public testing::TestWithParam<FaultSourceKind> {
 protected:
  void SetUp() override {
    if (!probe_fault_sources().has(GetParam())) GTEST_SKIP() << probe_fault_sources().reason;
    space_ = std::make_unique<FaultTestSpace>(GetParam(), kPages, reinterpret_cast<void*>(kView));
    space_->map(0, kPages, Access::kRead);
    for (std::size_t page : kWritten) space_->app(page) = 200;
  }

  // That the scan finds the writes, once.
  void expect_found() {
    if (!space_->scans()) return;
    std::vector<std::size_t> written = space_->written(0, kPages);
    EXPECT_EQ(written, std::vector<std::size_t>(std::begin(kWritten), std::end(kWritten)));
    EXPECT_TRUE(space_->written(0, kPages).empty());
  }

  void expect_bytes() {
    for (std::size_t page : kWritten) EXPECT_EQ(space_->app(page), 200) << page;
    for (std::size_t page = 4; page < 70; ++page) EXPECT_EQ(space_->app(page), 0) << page;
  }

  static constexpr std::uintptr_t kView = 0x3000'0000'0000;
  std::unique_ptr<FaultTestSpace> space_;
};

TEST_P(MovedPages, AStrangersLargePageHidesNoWriteFromTheScan) {
  Stranger stranger(space_->mapping());
  if (!stranger.collapses()) GTEST_SKIP() << "no large pages of shared memory here";
  expect_found();
  expect_bytes();
}

TEST_P(MovedPages, AFaultThatComesFirstHidesNoWriteEither) {
  Stranger stranger(space_->mapping());
  if (!stranger.collapses()) GTEST_SKIP() << "no large pages of shared memory here";
  expect_bytes();
  expect_found();
}

// The kernel splits a large page when a part of it is given back, and removes all entries then.
TEST_P(MovedPages, APageThatIsGivenBackHidesNoWriteToItsNeighbours) {
  Stranger stranger(space_->mapping());
  if (!stranger.collapses()) GTEST_SKIP() << "no large pages of shared memory here";
  for (std::size_t page : kWritten) space_->app(page) = 201;
  space_->source().zap(FaultTestSpace::span(500, 1));
  space_->mapping().punch(FaultTestSpace::span(500, 1));
  if (space_->scans()) {
    space_->source().remap(FaultTestSpace::span(0, 500));
    space_->source().remap(FaultTestSpace::span(501, kPages - 501));
  }
  expect_found();
  for (std::size_t page : kWritten) EXPECT_EQ(space_->app(page), 201) << page;
  EXPECT_EQ(space_->runtime(500), 0);
}

TEST_P(MovedPages, NoMappingOfOursBecomesALargePage) {
  DualMapping& mapping = space_->mapping();
  EXPECT_NE(madvise(mapping.app(), kLargePage, MADV_COLLAPSE), 0);
  EXPECT_NE(madvise(mapping.runtime(), kLargePage, MADV_COLLAPSE), 0);
  auto peers = SharedMapping::map(mapping.fd(), mapping.bytes(), kLargePage);
  ASSERT_TRUE(peers.ok());
  EXPECT_NE(madvise(peers.value().data(), kLargePage, MADV_COLLAPSE), 0);
  expect_found();
}

TEST_P(MovedPages, PagesThatAreWrittenOutHideNoWrite) {
  madvise(space_->mapping().runtime(), kPages * page_bytes(), MADV_DONTNEED);
  madvise(space_->mapping().app(), kPages * page_bytes(), MADV_PAGEOUT);
  expect_bytes();
  expect_found();
}

INSTANTIATE_TEST_SUITE_P(Sources, MovedPages,
                         testing::Values(FaultSourceKind::kUserfaultfdAsync,
                                         FaultSourceKind::kUserfaultfdSync,
                                         FaultSourceKind::kSigsegv),
                         fault_source_name);

}  // namespace
}  // namespace terrane::platform
