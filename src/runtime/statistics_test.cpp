#include "runtime/statistics.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

TEST(StatisticsTest, SitesAreCountedByStretchesAndThoseWithoutCountsAreLeftOut) {
  SiteCounters sites(std::uint64_t{1} << 40, 4096, 1);
  sites.of(5).faults += 2;
  sites.of(15).faults += 1;                          // the same 64 KiB
  sites.of(std::uint64_t{1} << 27).flushed += 1000;  // far away
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  sites.for_each([&](std::uint64_t block, const SiteCounters::Site& site) {
    seen.emplace_back(block, site.faults + site.flushed);
  });
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(seen, (std::vector<Pair>{{0, 3}, {std::uint64_t{1} << 27, 1000}}));
}

TEST(StatisticsTest, ALockKeepsItsCountsAndThoseBeyondTheRoomShareOne) {
  LockCounters locks;
  ++locks.of(LockId{7}).acquires;
  ++locks.of(LockId{7}).acquires;
  EXPECT_EQ(locks.of(LockId{7}).acquires, 2u);
  for (std::uint64_t id = 100; id < 20000; ++id) ++locks.of(LockId{id}).acquires;
  std::uint64_t all = locks.others().acquires;
  EXPECT_GT(all, 0u);
  for (const LockCounters::Lock& lock : locks.all()) all += lock.acquires;
  EXPECT_EQ(all, 19902u);
}

TEST(StatisticsTest, TheReportSaysWhatIsLeftForComputing) {
  ThreadLine thread{.name = "thread 1", .lived = 10, .pages = 1, .locks = 2, .barriers = 1.5};
  ThreadLine handler{.name = "handler", .lived = 10, .serves = 0.5, .is_of_program = false};
  std::string text = statistics_text("node 0 (here), 10 s", {handler, thread},
                                     {{.name = "heap", .bytes = 4096, .faults = 3}},
                                     {{.name = "lock 5", .acquires = 2, .remote = 1, .wait = 2}});
  EXPECT_NE(text.find("thread 1            5.500    1.000    2.000    1.500"), std::string::npos)
      << text;
  EXPECT_NE(text.find("handler             0.000"), std::string::npos) << text;
  EXPECT_LT(text.find("thread 1"), text.find("\n  handler "));
  EXPECT_NE(text.find("heap "), std::string::npos) << text;
  EXPECT_NE(text.find("lock 5 "), std::string::npos) << text;
}

}  // namespace
}  // namespace terrane::runtime
