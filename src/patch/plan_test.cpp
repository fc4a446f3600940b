#include "patch/plan.h"

#include <gtest/gtest.h>

namespace terrane::patch {
namespace {

TEST(PlanTest, AJumpIntoAnInstructionIsSeenWhereverItBegins) {
  // jmp +2, at 0x100; its target is 0x107. A number of the same bytes is no jump.
  const std::vector<std::uint8_t> jump{0xe9, 2, 0, 0, 0}, number{0x68, 2, 0, 0, 0};
  EXPECT_EQ(TargetFinder({0x107}).find(jump, 0x100), std::vector<std::uint64_t>{0x107});
  EXPECT_TRUE(TargetFinder({0x107}).find(number, 0x100).empty());
  const std::vector<std::uint8_t> hidden{0x90, 0x0f, 0x84, 0xfa, 0xff, 0xff, 0xff};
  EXPECT_EQ(TargetFinder({0x101}).find(hidden, 0x100), std::vector<std::uint64_t>{0x101});
}

TEST(PlanTest, AThreadsOwnWordsAndFencesStay) {
  // lock addl $1,%fs:0; lock orq $0,(%rsp); lock orq $1,(%rsp)
  const std::vector<std::uint8_t> code{0xf0, 0x64, 0x83, 0x04, 0x25, 0,    0,    0,
                                       0,    1,    0xf0, 0x48, 0x83, 0x0c, 0x24, 0,
                                       0xf0, 0x48, 0x83, 0x0c, 0x24, 1};
  Decoded found = decode(code, 0x1000);
  ASSERT_TRUE(found.is_good);
  ASSERT_EQ(found.locked.size(), 1u);
  EXPECT_EQ(found.locked[0].address, 0x1010u);
}

TEST(PlanTest, FencesAreFoundWhereTheyAreFlushes) {
  // lock orl $0,%fs:0; lock orq $0,-8(%rsp); mfence; lfence
  const std::vector<std::uint8_t> code{0xf0, 0x64, 0x83, 0x0c, 0x25, 0,    0,    0,
                                       0,    0,    0xf0, 0x48, 0x83, 0x4c, 0x24, 0xf8,
                                       0,    0x0f, 0xae, 0xf0, 0x0f, 0xae, 0xe8};
  Decoded found = decode(code, 0x1000, Fences::kFind);
  ASSERT_TRUE(found.is_good);
  ASSERT_EQ(found.locked.size(), 2u);
  EXPECT_EQ(found.locked[0].address, 0x100au);
  EXPECT_EQ(found.locked[1].address, 0x1011u);
  for (const LockedInstruction& one : found.locked) {
    EXPECT_TRUE(one.is_fence);
    EXPECT_EQ(one.word_bytes, 0);
  }
  EXPECT_EQ(next_candidate(std::span(code).subspan(17), 0), 6u) << "none, unless it is looked for";
  EXPECT_EQ(next_candidate(std::span(code).subspan(17), 0, Fences::kFind), 0u);
}

TEST(PlanTest, AProgramsOwnFileHasFunctionsAndNoDoubts) {
  auto file = ElfCode::open("/proc/self/exe");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_GT(file.value().functions().size(), 100u);
  Plan plan = make_plan(file.value(), false);
  EXPECT_TRUE(plan.doubts.empty());
  EXPECT_EQ(plan.sites.size(),
            plan.count(Way::kJump) + plan.count(Way::kHop) + plan.count(Way::kTrap));
  EXPECT_EQ(make_plan(file.value(), true).count(Way::kTrap), plan.sites.size());
}

TEST(PlanTest, WhatIsNoProgramIsRefused) {
  EXPECT_FALSE(ElfCode::open("/dev/null").ok());
  EXPECT_FALSE(ElfCode::open("/").ok());
}

}  // namespace
}  // namespace terrane::patch
