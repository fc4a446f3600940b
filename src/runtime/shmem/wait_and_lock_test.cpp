#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "runtime/shmem/lock.h"
#include "runtime/shmem/test_world.h"
#include "runtime/shmem/wait_set.h"

namespace terrane::runtime::shmem {
namespace {

// A world of one PE whose words the test changes itself.
class WaitSetTest : public testing::Test {
 protected:
  template <typename T = int>
  WaitSet<T> set(T* words, std::size_t count, const int* status = nullptr,
                 Comparison comparison = Comparison::kEq) {
    return WaitSet<T>(world_, words, count, status, comparison);
  }

  TestMachine machine_{{0}};
  TestWorld world_{machine_, NodeId{0}};
};

TEST_F(WaitSetTest, EveryComparisonHoldsWhenItShould) {
  int word = 5;
  auto holds = [&](Comparison comparison, int value) {
    return set(&word, 1, nullptr, comparison).against(value).test_all();
  };
  EXPECT_TRUE(holds(Comparison::kEq, 5) && !holds(Comparison::kEq, 4));
  EXPECT_TRUE(holds(Comparison::kNe, 4) && !holds(Comparison::kNe, 5));
  EXPECT_TRUE(holds(Comparison::kGt, 4) && !holds(Comparison::kGt, 5));
  EXPECT_TRUE(holds(Comparison::kGe, 5) && !holds(Comparison::kGe, 6));
  EXPECT_TRUE(holds(Comparison::kLt, 6) && !holds(Comparison::kLt, 5));
  EXPECT_TRUE(holds(Comparison::kLe, 5) && !holds(Comparison::kLe, 4));
}

TEST_F(WaitSetTest, UnsignedWordsCompareAsUnsigned) {
  std::uint64_t word = ~std::uint64_t{0};
  EXPECT_TRUE(set<std::uint64_t>(&word, 1, nullptr, Comparison::kGt).against(1).test_all());
}

TEST_F(WaitSetTest, AnEmptySetIsFulfilledAndHasNoIndex) {
  int words[2] = {0, 0}, nobody[2] = {1, 1};
  std::size_t indices[2];
  for (auto empty : {set(words, 0), set(words, 2, nobody)}) {
    empty.against(1);
    EXPECT_TRUE(empty.test_all());
    EXPECT_EQ(empty.test_any(), SIZE_MAX);
    EXPECT_EQ(empty.test_some(indices), 0u);
    empty.wait_all();
    EXPECT_EQ(empty.wait_any(), SIZE_MAX);
    EXPECT_EQ(empty.wait_some(indices), 0u);
  }
}

TEST_F(WaitSetTest, WordsWithAStatusDoNotCount) {
  int words[4] = {1, 0, 1, 1}, status[4] = {1, 1, 0, 0};
  std::size_t indices[4];
  auto counted = set(words, 4, status).against(1);
  EXPECT_TRUE(counted.test_all());
  EXPECT_EQ(counted.test_some(indices), 2u);
  EXPECT_EQ(indices[0] + indices[1], 5u);
  EXPECT_GE(counted.test_any(), 2u);
}

TEST_F(WaitSetTest, RepeatedCallsComeToEveryWord) {
  int words[5] = {1, 1, 0, 1, 1};
  std::vector<int> found(5);
  for (int call = 0; call < 8; ++call) ++found[set(words, 5).against(1).test_any()];
  EXPECT_EQ(found, (std::vector<int>{2, 2, 0, 2, 2}));
}

TEST_F(WaitSetTest, EachWordMayHaveAValueOfItsOwn) {
  long words[3] = {1, 2, 3}, values[3] = {1, 5, 3};
  std::size_t indices[3];
  auto each = set(words, 3).against_each(values);
  EXPECT_FALSE(each.test_all());
  EXPECT_EQ(each.test_some(indices), 2u);
  EXPECT_EQ(indices[1], 2u);
}

TEST(WaitTest, AWaitEndsWhenAnotherPeChangesTheWord) {
  for (const TestSetting& setting : {TestSetting::one_host(2), TestSetting::hosts(2, 1)}) {
    run_pes(setting, [&](TestPe& pe) {
      auto* words = pe.world.heap<std::uint64_t>();
      if (pe.self() == 1) {
        for (std::uint64_t i = 0; i < 8; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          pe.all().reach().post(NodeId{0}, {Part::kHeap, 8 * i}, i + 1);
        }
        return;
      }
      EXPECT_EQ(wait_until<std::uint64_t>(pe.world, words, Comparison::kNe, 0), 1u);
      WaitSet<std::uint64_t> all(pe.world, words, 8, nullptr, Comparison::kGt);
      std::size_t indices[8];
      EXPECT_GE(all.against(0).wait_some(indices), 1u);
      EXPECT_LT(all.wait_any(), 8u);
      all.wait_all();
      EXPECT_TRUE(all.test_all());
      EXPECT_EQ(pe.world.progressed() > 0, setting.host_of[1] == 1);
    });
  }
}

// One whose naps end as given.
class NappingWorld final : public TestWorld {
 public:
  using TestWorld::TestWorld;

  std::vector<bool> woken;               // by another host, nap after nap
  std::vector<std::uint64_t> looked_at;  // at each nap: progress() calls so far

 protected:
  bool nap(std::uint64_t&) override {
    looked_at.push_back(progressed());
    return looked_at.size() <= woken.size() && woken[looked_at.size() - 1];
  }
};

TEST(WaitTest, WhomAnotherHostHasWokenPollsForAWhileBeforeItSleepsAgain) {
  TestMachine machine({0, 1});
  NappingWorld world(machine, NodeId{0});
  world.woken = {false, true, false};
  world.wait_until([&] { return world.looked_at.size() == 4; });
  ASSERT_EQ(world.looked_at.size(), 4u);
  EXPECT_EQ(world.looked_at[1] - world.looked_at[0], 1u);  // nobody came: sleeps on
  EXPECT_GT(world.looked_at[2] - world.looked_at[1], 10u);
  EXPECT_EQ(world.looked_at[3] - world.looked_at[2], 1u);
}

TEST(LockTest, OneAtATimeHoldsALock) {
  for (const TestSetting& setting : {TestSetting::one_host(1), TestSetting::one_host(2),
                                     TestSetting::one_host(8), TestSetting::hosts(4, 2)}) {
    std::uint64_t counts[3] = {};
    run_pes(setting, [&](TestPe& pe) {
      auto* locks = pe.world.heap<long>(800);
      for (int round = 0; round < 300; ++round) {
        int which = round % 3;
        if (round % 5 == 0) {
          while (!test_lock(pe.world, &locks[which], false)) std::this_thread::yield();
        } else {
          set_lock(pe.world, &locks[which], false);
        }
        counts[which] = counts[which] + 1;
        clear_lock(pe.world, &locks[which], false);
      }
      pe.everybody();
      for (int which = 0; which < 3; ++which) EXPECT_EQ(locks[which], 0);
    });
    for (std::uint64_t count : counts) EXPECT_EQ(count, 100 * setting.host_of.size());
  }
}

TEST(LockTest, WhoComesFirstIsServedFirst) {
  constexpr std::uint32_t kOrder[] = {2, 3, 1};
  std::vector<std::uint32_t> served;
  std::atomic<std::uint32_t> queued{0};
  run_pes(TestSetting::one_host(4), [&](TestPe& pe) {
    auto* lock = pe.world.heap<long>(800);
    if (pe.self() == 0) set_lock(pe.world, lock, false);
    pe.everybody();
    if (pe.self() == 0) {
      // The low half of the lock at its home, which is PE 0, names the last one in the queue.
      std::atomic_ref<std::uint32_t> last(*reinterpret_cast<std::uint32_t*>(lock));
      for (std::uint32_t next : kOrder) {
        ++queued;
        while (last.load() != next + 1) std::this_thread::yield();
      }
      clear_lock(pe.world, lock, false);
      return;
    }
    while (queued == 0 || kOrder[queued - 1] != pe.self()) std::this_thread::yield();
    set_lock(pe.world, lock, false);
    served.push_back(pe.self());
    clear_lock(pe.world, lock, false);
  });
  EXPECT_EQ(served, (std::vector<std::uint32_t>{2, 3, 1}));
}

TEST(LockTest, ATestDoesNotWait) {
  run_pes(TestSetting::one_host(2), [&](TestPe& pe) {
    auto* lock = pe.world.heap<long>(800);
    if (pe.self() == 0) {
      EXPECT_TRUE(test_lock(pe.world, lock, false));
    }
    pe.everybody();
    if (pe.self() == 1) {
      EXPECT_FALSE(test_lock(pe.world, lock, false));
    }
    pe.everybody();
    if (pe.self() == 0) clear_lock(pe.world, lock, false);
    pe.everybody();
    if (pe.self() == 1) {
      EXPECT_TRUE(test_lock(pe.world, lock, false));
      clear_lock(pe.world, lock, false);
    }
  });
}

}  // namespace
}  // namespace terrane::runtime::shmem
