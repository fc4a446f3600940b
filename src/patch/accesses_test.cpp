#include "patch/accesses.h"

#include <gtest/gtest.h>

namespace terrane::patch {
namespace {

using Code = std::vector<std::uint8_t>;

TEST(AccessesTest, WhatIsSeenExactlyIsFound) {
  // mov (%rdi,%rsi,4),%eax; mov %rax,0x10(%rip); addl $1,(%rdx); vmovupd (%rcx),%ymm0
  Code code{0x8b, 0x04, 0xb7, 0x48, 0x89, 0x05, 0x10, 0,   0,
            0,    0x83, 0x02, 0x01, 0xc5, 0xfd, 0x10, 0x01};
  std::vector<MemoryAccess> found = find_accesses(code, 0x1000);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(found[0].is_read && !found[0].is_written);
  EXPECT_EQ(found[0].instruction.word_bytes, 4);
  EXPECT_EQ(found[0].instruction.base, kRdi);
  EXPECT_EQ(found[0].instruction.index, kRsi);
  EXPECT_EQ(found[0].instruction.scale, 2);
  EXPECT_TRUE(!found[1].is_read && found[1].is_written);
  EXPECT_TRUE(found[1].instruction.is_relative);
  EXPECT_EQ(found[1].instruction.displacement, 0x10);
  EXPECT_TRUE(found[2].is_read && found[2].is_written);
  EXPECT_EQ(found[3].instruction.word_bytes, 32);
}

TEST(AccessesTest, WhatIsNotSeenExactlyIsLeftOut) {
  const Code each[] = {
      {0xf0, 0x83, 0x02, 0x01},              // lock addl $1,(%rdx)
      {0x87, 0x02},                          // xchg %eax,(%rdx)
      {0x64, 0x8b, 0x07},                    // mov %fs:(%rdi),%eax
      {0xff, 0x32},                          // push (%rdx)
      {0xff, 0x12},                          // call *(%rdx)
      {0x0f, 0x1f, 0x40, 0x00},              // nop (%rax)
      {0x8d, 0x04, 0xb7},                    // lea (%rdi,%rsi,4),%eax
      {0xf3, 0x48, 0xab},                    // rep stos
      {0x0f, 0x44, 0x02},                    // cmove (%rdx),%eax
      {0x0f, 0xab, 0x02},                    // bts %eax,(%rdx)
      {0x0f, 0x18, 0x0a},                    // prefetcht0 (%rdx)
      {0x8b, 0x44, 0x24, 0x08},              // mov 8(%rsp),%eax
      {0xc4, 0xe2, 0x75, 0x2c, 0x02},        // vmaskmovps (%rdx),%ymm1,%ymm0
      {0x62, 0xf1, 0x7c, 0x49, 0x10, 0x02},  // vmovups (%rdx),%zmm0{%k1}
      {0x67, 0x8b, 0x02},                    // mov (%edx),%eax
  };
  for (const Code& code : each)
    EXPECT_TRUE(find_accesses(code, 0x1000).empty()) << std::hex << int{code[0]} << int{code[1]};
}

TEST(AccessesTest, AFramePointersOwnFrameIsLeftOut) {
  // push %rbp; mov %rsp,%rbp; mov -4(%rbp),%eax; mov -16(%rbp,%rax,4),%edx
  Code code{0x55, 0x48, 0x89, 0xe5, 0x8b, 0x45, 0xfc, 0x8b, 0x54, 0x85, 0xf0};
  std::vector<MemoryAccess> found = find_accesses(code, 0x1000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].instruction.address, 0x1007u);
  EXPECT_EQ(find_accesses(std::span(code).subspan(4), 0x1004).size(), 2u) << "no frame pointer";
}

TEST(AccessesTest, CodeThatCannotBeDecodedHasNone) {
  EXPECT_TRUE(find_accesses(Code{0x8b, 0x02, 0x06}, 0x1000).empty());
}

}  // namespace
}  // namespace terrane::patch
