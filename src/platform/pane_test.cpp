#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "platform/fault_source.h"
#include "platform/fault_test_space.h"
#include "platform/mapping.h"
#include "platform/page_size.h"

namespace terrane::platform {
namespace {

constexpr std::size_t kPages = 16;

Span pages(std::size_t first, std::size_t count) {
  return {first * page_bytes(), count * page_bytes()};
}

// A space of kPages pages with panes in it: each fault gives the page bytes that name it (its
// number plus 1) and maps it, by the source that watches it.
class PanedSpace {
 public:
  explicit PanedSpace(FaultSourceKind kind) : kind_(kind) {
    auto mapping = DualMapping::create(kPages * page_bytes(), nullptr, "terrane-test");
    TERRANE_CHECK(mapping.ok(), "no mapping");
    mapping_ = std::move(mapping).value();
    watch(pages(0, kPages));
  }

  // Where the program has memory of its own until the pane is placed there.
  std::byte* place(Span span) {
    void* at =
        mmap(nullptr, span.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto placed = mapping_.place(span, at);
    TERRANE_CHECK(placed.ok(), "no pane");
    watch(span);
    return static_cast<std::byte*>(at);
  }

  DualMapping& mapping() { return mapping_; }
  FaultSource& source(std::size_t page) {
    for (std::size_t i = parts_.size(); i-- > 0;)
      if (page * page_bytes() - parts_[i].offset < parts_[i].bytes) return *sources_[i];
    return *sources_[0];
  }
  volatile unsigned char& app(std::size_t page) {
    return *reinterpret_cast<volatile unsigned char*>(mapping_.app_at(page * page_bytes()));
  }
  std::vector<std::size_t> faults;

 private:
  void watch(Span part) {
    auto source = make_fault_source(kind_, mapping_, part, &PanedSpace::on_fault, this);
    TERRANE_CHECK(source.ok(), "no fault source");
    sources_.push_back(std::move(source).value());
    parts_.push_back(part);
    faults.reserve(1000);
  }
  static FaultVerdict on_fault(void* context, std::uint64_t offset, Access wanted) {
    auto& space = *static_cast<PanedSpace*>(context);
    std::size_t page = offset / page_bytes();
    space.faults.push_back(page);
    std::byte* bytes = space.mapping_.runtime() + page * page_bytes();
    if (*bytes == std::byte{0}) *bytes = static_cast<std::byte>(page + 1);
    space.source(page).map(pages(page, 1), Access::kRead);
    if (wanted == Access::kWrite && space.source(page).detection() == WriteDetection::kFault)
      space.source(page).unprotect(pages(page, 1));
    return FaultVerdict::kRetry;
  }

  FaultSourceKind kind_;
  DualMapping mapping_;
  std::vector<Span> parts_;
  std::vector<std::unique_ptr<FaultSource>> sources_;
};

class PaneTest : public testing::TestWithParam<FaultSourceKind> {
 protected:
  void SetUp() override {
    FaultSourceSupport support = probe_fault_sources();
    if (!support.has(GetParam())) GTEST_SKIP() << support.reason;
  }
};

TEST_P(PaneTest, APageOfAPaneFaultsAtItsOwnAddress) {
  PanedSpace space(GetParam());
  std::byte* pane = space.place(pages(4, 3));
  EXPECT_EQ(pane[page_bytes()], std::byte{6});
  EXPECT_EQ(space.mapping().runtime()[5 * page_bytes()], std::byte{6});
  pane[0] = std::byte{99};
  EXPECT_EQ(space.mapping().runtime()[4 * page_bytes()], std::byte{99});
  EXPECT_EQ(space.faults, (std::vector<std::size_t>{5, 4}));
}

// What reads there without a source would give the page memory of zeros that nobody fetched.
TEST_P(PaneTest, NobodyHasAccessBeforeASourceWatches) {
  auto mapping = DualMapping::create(kPages * page_bytes(), nullptr, "terrane-test");
  ASSERT_TRUE(mapping.ok());
  void* at =
      mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(mapping.value().place(pages(4, 1), at).ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], at, 1), -1);
  EXPECT_EQ(errno, EFAULT);
  close(ends[0]);
  close(ends[1]);
}

TEST_P(PaneTest, PagesBesideThePanesStayInTheView) {
  PanedSpace space(GetParam());
  space.place(pages(4, 1));
  space.place(pages(5, 2));  // side by side in the space, and elsewhere in the program
  space.place(pages(9, 1));
  std::vector<std::size_t> all;
  for (std::size_t page = 0; page < kPages; ++page) {
    EXPECT_EQ(space.app(page), page + 1);
    bool in_view =
        space.mapping().app_at(page * page_bytes()) == space.mapping().app() + page * page_bytes();
    EXPECT_EQ(in_view, page != 4 && page != 5 && page != 6 && page != 9);
    all.push_back(page);
  }
  EXPECT_EQ(space.faults, all);
}

TEST_P(PaneTest, AZappedPageOfAPaneFaultsAgainAndKeepsItsData) {
  PanedSpace space(GetParam());
  space.place(pages(4, 3));
  space.app(5) = 77;
  space.app(3) = 78;
  space.source(5).zap(pages(5, 1));
  space.source(3).zap(pages(3, 1));
  EXPECT_EQ(space.app(5), 77);
  EXPECT_EQ(space.app(3), 78);
  EXPECT_EQ(space.faults, (std::vector<std::size_t>{5, 3, 5, 3}));
}

TEST_P(PaneTest, WritesToProtectedPagesOfAPaneAreDetected) {
  PanedSpace space(GetParam());
  space.place(pages(4, 3));
  for (std::size_t page = 4; page < 7; ++page) space.app(page) = 1;
  space.source(4).protect(pages(4, 3));
  space.faults.clear();
  space.app(5) = 2;
  if (space.source(4).detection() == WriteDetection::kFault) {
    EXPECT_EQ(space.faults, std::vector<std::size_t>{5});
    return;
  }
  std::vector<Span> written;
  space.source(4).scan(pages(4, 3), written);
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].offset, 5 * page_bytes()) << "offsets are the mapping's";
  EXPECT_EQ(written[0].bytes, page_bytes());
}

TEST_P(PaneTest, APunchedPageOfAPaneHasNoMemory) {
  PanedSpace space(GetParam());
  space.place(pages(4, 3));
  space.app(5) = 77;
  space.source(5).zap(pages(5, 1));
  space.mapping().punch(pages(5, 1));
  EXPECT_EQ(space.app(5), 6) << "the handler filled it anew";
}

TEST_P(PaneTest, WhatAPaneTookIsNotSeenInTheView) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto touch = [] {
    signal(SIGSEGV, SIG_DFL);  // not a sanitizer's
    PanedSpace space(GetParam());
    space.place(pages(4, 3));
    *reinterpret_cast<volatile char*>(space.mapping().app() + 5 * page_bytes()) = 1;
  };
  EXPECT_EXIT(touch(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_P(PaneTest, AChildOfForkDoesNotHaveThePane) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto touch = [] {
    signal(SIGSEGV, SIG_DFL);
    PanedSpace space(GetParam());
    std::byte* pane = space.place(pages(4, 3));
    pid_t child = fork();
    if (child == 0) {
      *reinterpret_cast<volatile std::byte*>(pane) = std::byte{1};
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    raise(WTERMSIG(status));
  };
  EXPECT_EXIT(touch(), testing::KilledBySignal(SIGSEGV), "in a child process");
}

INSTANTIATE_TEST_SUITE_P(EverySource, PaneTest,
                         testing::Values(FaultSourceKind::kUserfaultfdAsync,
                                         FaultSourceKind::kUserfaultfdSync,
                                         FaultSourceKind::kSigsegv),
                         fault_source_name);

TEST(PaneTest, AddressesAndOffsetsBelongTogether) {
  auto made = DualMapping::create(kPages * page_bytes(), nullptr, "terrane-test");
  ASSERT_TRUE(made.ok());
  DualMapping& mapping = made.value();
  void* at =
      mmap(nullptr, 2 * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(mapping.place(pages(4, 2), at).ok());
  auto* pane = static_cast<std::byte*>(at);
  EXPECT_EQ(mapping.offset_of(pane + 5, 1), 4 * page_bytes() + 5);
  EXPECT_EQ(mapping.offset_of(pane, 2 * page_bytes()), 4 * page_bytes());
  EXPECT_FALSE(mapping.offset_of(pane + 1, 2 * page_bytes())) << "past the pane's end";
  EXPECT_EQ(mapping.offset_of(mapping.app(), 4 * page_bytes()), 0u);
  EXPECT_FALSE(mapping.offset_of(mapping.app(), 4 * page_bytes() + 1)) << "into what moved away";
  EXPECT_FALSE(mapping.offset_of(mapping.app() + 5 * page_bytes(), 1));
  EXPECT_EQ(mapping.offset_of(mapping.app() + 6 * page_bytes(), 10 * page_bytes()),
            6 * page_bytes());
  EXPECT_FALSE(mapping.offset_of(mapping.app() + 6 * page_bytes(), 10 * page_bytes() + 1));
  EXPECT_EQ(mapping.app_at(6 * page_bytes() - 1), pane + 2 * page_bytes() - 1);
  EXPECT_EQ(mapping.app_at(6 * page_bytes()), mapping.app() + 6 * page_bytes());
}

TEST(PaneTest, PanesAreWholePagesApartFromEachOther) {
  auto made = DualMapping::create(kPages * page_bytes(), nullptr, "terrane-test");
  ASSERT_TRUE(made.ok());
  DualMapping& mapping = made.value();
  std::uint64_t room = 4 * page_bytes();
  void* at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_FALSE(mapping.place({1, page_bytes()}, at).ok());
  EXPECT_FALSE(mapping.place({0, 0}, at).ok());
  EXPECT_FALSE(mapping.place(pages(0, 1), static_cast<char*>(at) + 1).ok());
  EXPECT_FALSE(mapping.place(pages(kPages - 1, 2), at).ok()) << "past the end of the space";
  ASSERT_TRUE(mapping.place(pages(3, 2), at).ok());
  EXPECT_FALSE(mapping.place(pages(4, 1), static_cast<char*>(at) + 3 * page_bytes()).ok());
  EXPECT_TRUE(mapping.place(pages(2, 1), static_cast<char*>(at) + 2 * page_bytes()).ok());
  ASSERT_EQ(mapping.panes().size(), 2u);
  EXPECT_EQ(mapping.panes().all()[1].span.offset, 2 * page_bytes());
}

// As many as a program with hundreds of libraries has, in no order.
TEST(PaneTest, EachOfManyIsFoundByOffsetAndAddress) {
  Panes panes;
  EXPECT_EQ(panes.at_offset(0), nullptr);
  EXPECT_EQ(panes.at_address(0), nullptr);
  auto offset = [](std::size_t i) { return i * 389 % Panes::kMost * 4 * page_bytes(); };
  auto address = [](std::size_t i) { return (i * 769 % Panes::kMost + 16) * 8 * page_bytes(); };
  auto pointer = [](std::uintptr_t at) { return reinterpret_cast<std::byte*>(at); };
  for (std::size_t i = 0; i < Panes::kMost; ++i) {
    EXPECT_FALSE(panes.meets({offset(i), 2 * page_bytes()}));
    panes.add({{offset(i), 2 * page_bytes()}, pointer(address(i))});
  }
  for (std::size_t i = 0; i < Panes::kMost; ++i) {
    std::uint64_t last = 2 * page_bytes() - 1;
    EXPECT_EQ(panes.at_offset(offset(i)), &panes.all()[i]);
    EXPECT_EQ(panes.at_offset(offset(i) + last), &panes.all()[i]);
    EXPECT_EQ(panes.at_offset(offset(i) + last + 1), nullptr);
    EXPECT_EQ(panes.at_address(address(i) + last), &panes.all()[i]);
    EXPECT_EQ(panes.at_address(address(i) + last + 1), nullptr);
    EXPECT_EQ(panes.at_address(address(i) - 1), nullptr);
    EXPECT_TRUE(panes.meets({offset(i) + page_bytes(), 2 * page_bytes()}));
    EXPECT_FALSE(panes.meets({offset(i) + 2 * page_bytes(), 2 * page_bytes()}));
  }
}

}  // namespace
}  // namespace terrane::platform
