#include "patch/operands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

namespace terrane::patch {
namespace {

class OperandsTest : public testing::Test {
 protected:
  // What the instruction of these bytes reads, and what it writes.
  std::vector<Operand> read_by(std::initializer_list<std::uint8_t> bytes) {
    return touched_by(bytes, &Operand::is_read);
  }
  std::vector<Operand> written_by(std::initializer_list<std::uint8_t> bytes) {
    return touched_by(bytes, &Operand::is_written);
  }
  std::vector<Operand> touched_by(std::initializer_list<std::uint8_t> bytes, bool Operand::*how) {
    std::fill(std::begin(code_), std::end(code_), std::uint8_t{0x90});
    std::copy(bytes.begin(), bytes.end(), code_);
    std::vector<Operand> found = operands_of(at(), registers_);
    std::erase_if(found, [how](const Operand& one) { return !(one.*how); });
    return found;
  }
  std::uintptr_t at() const { return reinterpret_cast<std::uintptr_t>(code_); }
  void expect_one(const std::vector<Operand>& found, std::uintptr_t address, std::size_t bytes) {
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].address, address);
    EXPECT_EQ(found[0].bytes, bytes);
  }

  greg_t registers_[NGREG] = {};

 private:
  std::uint8_t code_[32] = {};
};

TEST_F(OperandsTest, AddressesComeFromRegistersAndDistances) {
  registers_[REG_RDI] = 0x10000;
  registers_[REG_RSI] = 3;
  registers_[REG_R13] = 0x20000;
  expect_one(read_by({0x8b, 0x44, 0xb7, 0x08}), 0x10000 + 4 * 3 + 8, 4);  // mov eax, [rdi+rsi*4+8]
  expect_one(read_by({0x49, 0x8b, 0x45, 0xf8}), 0x20000 - 8, 8);          // mov rax, [r13-8]
  expect_one(read_by({0x83, 0x3d, 0x10, 0, 0, 0, 0x01}), at() + 7 + 0x10, 4);  // cmp [rip+16], 1
  expect_one(read_by({0x0f, 0xb6, 0x07}), 0x10000, 1);  // movzx eax, byte [rdi]
}

TEST_F(OperandsTest, WhatIsWrittenIsFoundAsWell) {
  registers_[REG_RDI] = 0x10000;
  expect_one(written_by({0x89, 0x07}), 0x10000, 4);        // mov [rdi], eax
  expect_one(written_by({0x48, 0xff, 0x07}), 0x10000, 8);  // inc qword [rdi]
  expect_one(read_by({0x48, 0xff, 0x07}), 0x10000, 8);
  EXPECT_TRUE(written_by({0x8b, 0x07}).empty());  // mov eax, [rdi]
}

TEST_F(OperandsTest, WhatIsOnlyWrittenOrComputedIsLeftOut) {
  EXPECT_TRUE(read_by({0x89, 0x07}).empty());                          // mov [rdi], eax
  EXPECT_TRUE(read_by({0x8d, 0x47, 0x08}).empty());                    // lea eax, [rdi+8]
  EXPECT_TRUE(read_by({0x39, 0xd8}).empty());                          // cmp eax, ebx
  EXPECT_TRUE(read_by({0x64, 0x8b, 0x04, 0x25, 0, 0, 0, 0}).empty());  // mov eax, fs:0
  EXPECT_TRUE(read_by({0x06}).empty());                                // no instruction
}

}  // namespace
}  // namespace terrane::patch
