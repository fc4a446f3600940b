#include "runtime/shmem/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>

#include "runtime/shmem/teams.h"
#include "runtime/shmem/test_world.h"

namespace terrane::runtime::shmem {
namespace {

// The worlds that everything is tried in.
std::vector<TestSetting> settings() {
  std::vector<TestSetting> all;
  for (std::uint32_t pes : {1, 2, 3, 8}) {
    all.push_back(TestSetting::one_host(pes));
    all.push_back(TestSetting::one_host(pes, true));
  }
  for (auto [pes, width] : {std::pair{2u, 1u}, {5u, 2u}, {6u, 3u}}) {
    all.push_back(TestSetting::hosts(pes, width));
  }
  all.push_back({{0, 1, 0, 0, 1, 2, 1}, false, {}});
  return all;
}

TEST(TeamShapeTest, MembersAndPesAreInverse) {
  for (TeamShape shape : {TeamShape{0, 1, 7}, TeamShape{2, 3, 4}, TeamShape{9, -2, 5}}) {
    for (std::uint32_t member = 0; member < shape.size; ++member) {
      EXPECT_EQ(shape.member(shape.world_pe(member)), member);
    }
    EXPECT_EQ(shape.member(NodeId{20}), -1);
  }
  EXPECT_EQ((TeamShape{2, 3, 4}).member(NodeId{3}), -1);
}

TEST(TeamTest, NobodyLeavesASynchronisationBeforeAllHaveCome) {
  for (const TestSetting& setting : settings()) {
    std::atomic<std::uint32_t> come{0};
    run_pes(setting, [&](TestPe& pe) {
      for (std::uint32_t round = 1; round <= 50; ++round) {
        come.fetch_add(1, std::memory_order_relaxed);
        pe.all().sync();
        EXPECT_GE(come.load(std::memory_order_relaxed), round * pe.all().size());
      }
    });
  }
}

TEST(TeamTest, WhatWasStoredBeforeASynchronisationIsSeenAfterIt) {
  for (const TestSetting& setting : settings()) {
    std::vector<int> written(setting.host_of.size(), -1);
    run_pes(setting, [&](TestPe& pe) {
      for (int round = 0; round < 20; ++round) {
        written[pe.self()] = round;
        pe.all().sync();
        for (int value : written) EXPECT_EQ(value, round);
        pe.all().sync();
      }
    });
  }
}

TEST(TeamTest, WhatOneSharesAllGet) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      for (std::uint32_t round = 0; round < 200; ++round) {
        std::uint32_t root = round % pe.all().size();
        std::uint64_t words[3] = {pe.self(), round, 7};
        pe.all().share(root, words, sizeof words);
        EXPECT_EQ(words[0], root);
        EXPECT_EQ(words[1], round);
      }
    });
  }
}

// What PE 0 puts comes after what PE 1 puts in the next round, which is the last one: no later word
// would hide one that came out of order.
TEST(TeamTest, SynchronisationsBearPutsThatOvertakeThoseOfOtherPes) {
  TestSetting setting = TestSetting::hosts(4, 2);
  setting.first_is_late = true;
  for (int run = 0; run < 5; ++run) {
    run_pes(setting, [&](TestPe& pe) {
      for (std::uint64_t round = 0; round < 2; ++round) {
        if (pe.self() == round) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        pe.all().sync();
        std::uint64_t word = pe.self() == 0 ? round : 0;
        if (round == 0) pe.all().share(0, &word, sizeof word);
        EXPECT_TRUE(round == 1 || word == round);
      }
    });
  }
}

TEST(TeamTest, APeMayBeFarAheadOfOneThatHasNotEntered) {
  run_pes(TestSetting::one_host(2), [&](TestPe& pe) {
    std::uint64_t sum = 0;
    if (pe.self() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (std::uint64_t round = 0; round < 1000; ++round) {
      std::uint64_t word = round;
      pe.all().share(0, &word, sizeof word);
      sum += word;
    }
    EXPECT_EQ(sum, 499500u);
  });
}

TEST(TeamsTest, AStridedSplitHasTheNamedMembers) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      std::uint32_t pes = pe.world.pes(), odd = pes / 2;
      if (odd == 0) return;
      Teams::Split split = pe.teams.split_strided(pe.all(), 1, 2, odd);
      EXPECT_TRUE(split.made);
      EXPECT_EQ(split.team != nullptr, pe.self() % 2 == 1);
      if (split.team == nullptr) return;
      EXPECT_EQ(split.team->self(), pe.self() / 2);
      Teams::Split back = pe.teams.split_strided(*split.team, odd - 1, -1, odd);
      EXPECT_TRUE(back.made);
      EXPECT_EQ(back.team->pe(back.team->self()), pe.world.self());
      EXPECT_EQ(back.team->self(), odd - 1 - pe.self() / 2);
      back.team->sync();
      pe.teams.destroy(*back.team);
      pe.teams.destroy(*split.team);
    });
  }
}

TEST(TeamsTest, ASplitThatNamesNoPesOfTheParentIsRefusedEverywhere) {
  run_pes(TestSetting::one_host(3), [&](TestPe& pe) {
    using Triplet = std::array<std::int64_t, 3>;
    for (auto [start, stride, size] :
         {Triplet{0, 1, 4}, {-1, 1, 1}, {3, 1, 1}, {2, 1, 2}, {0, -1, 2}, {0, 0, 2}, {0, 1, 0}}) {
      Teams::Split split = pe.teams.split_strided(pe.all(), start, stride, size);
      EXPECT_FALSE(split.made);
      EXPECT_EQ(split.team, nullptr);
    }
    EXPECT_FALSE(pe.teams.split_2d(pe.all(), 0).made);
    EXPECT_TRUE(pe.teams.split_strided(pe.all(), 2, 0, 1).made);
  });
}

TEST(TeamsTest, APlaneHasRowsAndColumns) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      for (std::uint32_t width = 1; width <= pe.world.pes() + 1; ++width) {
        std::uint32_t used = std::min(width, pe.world.pes());
        Teams::Split2d plane = pe.teams.split_2d(pe.all(), width);
        ASSERT_TRUE(plane.made);
        EXPECT_EQ(plane.x->self(), pe.self() % used);
        EXPECT_EQ(plane.y->self(), pe.self() / used);
        plane.x->sync();
        plane.y->sync();
        pe.teams.destroy(*plane.y);
        pe.teams.destroy(*plane.x);
      }
    });
  }
}

TEST(TeamsTest, TheSharedTeamHasThePesOfAHost) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      Team& shared = pe.teams.shared_team();
      std::uint32_t here = 0;
      for (std::uint32_t other = 0; other < pe.world.pes(); ++other) {
        bool is_here = pe.world.host_of(NodeId{other}) == pe.world.host_of(pe.world.self());
        EXPECT_EQ(shared.shape().member(NodeId{other}) >= 0, is_here);
        here += is_here;
      }
      EXPECT_EQ(shared.size(), here);
      shared.sync();
      Teams::Split last = pe.teams.split_strided(shared, here - 1, 1, 1);
      EXPECT_TRUE(last.made);
      EXPECT_EQ(last.team != nullptr, shared.self() == here - 1);
    });
  }
}

TEST(TeamsTest, AThousandTeamsLiveAtATimeAndTheirSlotsAreUsedAgain) {
  run_pes(TestSetting::one_host(2), [&](TestPe& pe) {
    for (int again = 0; again < 2; ++again) {
      std::vector<Team*> teams;
      for (int i = 0; i < 1000; ++i) {
        teams.push_back(pe.teams.split_strided(pe.all(), 0, 1, 2).team);
        ASSERT_NE(teams.back(), nullptr);
      }
      for (Team* team : teams) team->sync();
      std::uint64_t word = pe.self();
      teams[700]->share(1, &word, sizeof word);
      EXPECT_EQ(word, 1u);
      for (Team* team : teams) pe.teams.destroy(*team);
    }
  });
}

TEST(TeamsTest, TheTeamThatDoesNotFitIsRefusedEverywhereAndTheNextOneMade) {
  run_pes(TestSetting::one_host(2), [&](TestPe& pe) {
    std::vector<Team*> teams;
    while (true) {
      Teams::Split split = pe.teams.split_strided(pe.all(), 1, 1, 1);
      if (!split.made) break;
      teams.push_back(split.team);
    }
    EXPECT_EQ(teams.size(), kProgramSlots);
    EXPECT_FALSE(pe.teams.split_2d(pe.all(), 1).made);
    EXPECT_TRUE(pe.teams.split_strided(pe.all(), 0, 1, 1).made);
    if (teams[1] != nullptr) pe.teams.destroy(*teams[1]);
    pe.all().sync();
    EXPECT_TRUE(pe.teams.split_strided(pe.all(), 0, 1, 2).made);
  });
}

TEST(TeamsTest, RandomTeamsOfTeamsWork) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      std::mt19937 random(5);  // the same at all PEs
      for (int round = 0; round < 30; ++round) {
        Team* team = &pe.all();
        std::vector<Team*> made;
        for (int depth = 0; depth < 3; ++depth) {
          // Drawn before members part, so that all PEs draw the same.
          std::uint32_t draw[3] = {static_cast<std::uint32_t>(random()),
                                   static_cast<std::uint32_t>(random()),
                                   static_cast<std::uint32_t>(random())};
          if (team == nullptr) continue;
          std::int64_t size = team->size(), start = draw[0] % size;
          std::int64_t room = draw[1] % 2 == 0 ? size - 1 - start : start;
          std::int64_t members = 1 + (room == 0 ? 0 : draw[2] % (room + 1));
          std::int64_t stride = members == 1 ? 1 : room / (members - 1);
          if (draw[1] % 2 != 0) stride = -stride;
          team = pe.teams.split_strided(*team, start, stride, members).team;
          if (team != nullptr) made.push_back(team);
        }
        for (Team* each : made) {
          std::uint64_t word = each->self();
          each->share(each->size() - 1, &word, sizeof word);
          EXPECT_EQ(word, each->size() - 1);
          each->sync();
        }
        while (!made.empty()) {
          pe.teams.destroy(*made.back());
          made.pop_back();
        }
      }
    });
  }
}

TEST(TeamsTest, ActiveSetsNeedNoAgreementBefore) {
  for (const TestSetting& setting : settings()) {
    run_pes(setting, [&](TestPe& pe) {
      std::uint32_t pes = pe.world.pes();
      for (std::uint32_t round = 0; round < 3; ++round) {
        for (std::uint32_t start = 0; start < pes; ++start) {
          for (std::int32_t stride = 1; stride <= 4; stride *= 2) {
            for (std::uint32_t size = 1; start + (size - 1) * stride < pes; ++size) {
              TeamShape shape{start, stride, size};
              if (shape.member(pe.world.self()) < 0) continue;
              Team& set = pe.teams.active_set(shape);
              std::uint64_t word = pe.self();
              set.share(0, &word, sizeof word);
              EXPECT_EQ(word, start);
              if (round == 1) set.sync();
            }
          }
        }
      }
    });
  }
}

TEST(TeamsTest, ThreadsOfAPeUseDifferentTeamsAtATime) {
  run_pes(TestSetting::one_host(2), [&](TestPe& pe) {
    std::vector<Team*> parents;
    for (int i = 0; i < 3; ++i) parents.push_back(pe.teams.split_strided(pe.all(), 0, 1, 2).team);
    std::vector<std::jthread> threads;
    for (Team* parent : parents) {
      threads.emplace_back([&pe, parent] {
        for (int round = 0; round < 50; ++round) {
          Teams::Split split = pe.teams.split_strided(*parent, 1, -1, 2);
          ASSERT_TRUE(split.made);
          std::uint64_t word = split.team->self();
          split.team->share(1, &word, sizeof word);
          EXPECT_EQ(word, 1u);
          pe.teams.destroy(*split.team);
        }
      });
    }
  });
}

TEST(TeamsTest, WrongAlgorithmsAreRefusedWithTheRightNames) {
  auto wrong = AlgorithmTable::with_choices(false, "reduce=fast");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("inline, get, put"), std::string::npos);
  wrong = AlgorithmTable::with_choices(false, "reduction=put");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("sync, broadcast"), std::string::npos);
  wrong = AlgorithmTable::with_choices(false, "reduce=put,nothing");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("COLLECTIVE=ALGORITHM"), std::string::npos);
  EXPECT_TRUE(AlgorithmTable::with_choices(false, "reduce=put,sync=counter").ok());
}

}  // namespace
}  // namespace terrane::runtime::shmem
