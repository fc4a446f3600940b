#include "tools/binary/locked_code.h"

#include <gtest/gtest.h>

#include "tools/binary/check_binary.h"

namespace terrane::tools {
namespace {

std::vector<LockedFunction> found_in(std::string_view listing,
                                     SharedScope scope = SharedScope::kRegions) {
  LockedCode code(scope);
  while (!listing.empty()) {
    std::size_t end = listing.find('\n');
    code.add_line(listing.substr(0, end));
    listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
  }
  return code.functions();
}

// Where all of the program's memory is shared, its variables and stacks are; its threads' own
// variables and the compiler's fence are not.
TEST(LockedCodeTest, AWholeProgramSharesItsVariablesAndStacks) {
  const char* listing =
      "0000000000001000 <main>:\n"
      "    1000:\tlock incl 0x2ee4(%rip)        # 4018 <counter>\n"
      "    1010:\tlock orq $0x0,(%rsp)\n"
      "    1020:\tlock incl %fs:0xfffffffffffffffc\n"
      "    1030:\tlock xadd %eax,0xc(%rsp)\n";
  EXPECT_TRUE(found_in(listing).empty());
  auto found = found_in(listing, SharedScope::kProgram);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 2u);
}

TEST(LockedCodeTest, FunctionsAreNamedWithTheirFirstLockedInstruction) {
  auto found = found_in(
      "0000000000001139 <add(std::atomic<int>*)>:\n"
      "    1139:\tmov    $0x1,%eax\n"
      "    113e:\tlock xadd %eax,(%rdi)\n"
      "    1142:\tlock cmpxchg %rdx,0x8(%rdi,%rax,8)\n"
      "    1147:\tret\n"
      "0000000000001150 <plain>:\n"
      "    1150:\tmov    %eax,(%rdi)\n"
      "0000000000001160 <swap>:\n"
      "    1160:\txchg   %eax,(%rdi)\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "add(std::atomic<int>*)");
  EXPECT_EQ(found[0].first, "lock xadd %eax,(%rdi)");
  EXPECT_EQ(found[0].address, "113e");
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(found[1].name, "swap");
}

TEST(LockedCodeTest, WhatIsNeverSharedIsLeftOut) {
  EXPECT_TRUE(found_in("0000000000001000 <fences>:\n"
                       "    1000:\tlock orq $0x0,(%rsp)\n"
                       "    1006:\tlock orl $0x0,-0x8(%rsp)\n"
                       "    100c:\tlock incl 0x2ee4(%rip)        # 4018 <counter>\n"
                       "    1013:\tlock decl %fs:0xfffffffffffffff8\n"
                       "    101c:\txchg   %ax,%ax\n"
                       "    101e:\txchg   %rax,%rdi\n")
                  .empty());
}

TEST(LockedCodeTest, TheFramePointerIsOnTheStackWhereItIsOne) {
  EXPECT_TRUE(found_in("0000000000001000 <unoptimised>:\n"
                       "    1000:\tpush   %rbp\n"
                       "    1001:\tmov    %rsp,%rbp\n"
                       "    1004:\tlock addl $0x1,-0x14(%rbp)\n")
                  .empty());
  EXPECT_EQ(found_in("0000000000001000 <optimised>:\n"
                     "    1004:\tlock addl $0x1,0x14(%rbp)\n")
                .size(),
            1u);
}

TEST(LockedCodeTest, LinesThatAreNoInstructionsAreLeftOut) {
  EXPECT_TRUE(found_in("\nprogram:     file format elf64-x86-64\n\n"
                       "Disassembly of section .text:\n\n"
                       "    1000:\t(bad)\n    1001:\tlock\n    \t...\n")
                  .size() <= 1u);
}

}  // namespace
}  // namespace terrane::tools
