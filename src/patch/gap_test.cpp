#include "patch/gap.h"

#include <gtest/gtest.h>

namespace terrane::patch {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kAt = 0x1000;

// A table in which 0f 0f is no instruction; the rest would be xchg %al,(%rax) again and again.
const Bytes kTable{0x86, 0x00, 0x86, 0x00, 0x0f, 0x0f, 0x0f, 0x0f,
                   0x0f, 0x0f, 0x86, 0x00, 0x0f, 0x0f, 0x0f, 0x0f};
const Bytes kPlain{0x48, 0x89, 0xf8, 0xc3};                     // mov %rdi,%rax; ret
const Bytes kLocked{0xf0, 0x48, 0xff, 0x07, 0xc3};              // lock incq (%rdi); ret
const Bytes kCallsNext{0xe8, 0x1b, 0, 0, 0, 0xc3, 0x90, 0x90};  // call +32; ret
const Bytes kBranches{0x74, 0x02, 0x90, 0xc3, 0xf0, 0x48, 0xff, 0x07, 0xc3};  // je to a lock

// The parts behind each other, each at a multiple of 16 bytes.
Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& one : parts) {
    all.resize((all.size() + 15) / 16 * 16, 0x90);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

std::optional<std::uint64_t> look(const Bytes& code, std::vector<std::uint64_t> entries = {}) {
  return locked_in_gap(code, kAt, entries, Fences::kLeave);
}

TEST(GapTest, ATableBesideCodeIsNone) {
  ASSERT_FALSE(decode(kTable, kAt).is_good);
  EXPECT_EQ(look(kTable), std::nullopt);
  EXPECT_EQ(look(joined({kTable, kPlain, kTable, kPlain}), {kAt + 16}), std::nullopt);
}

TEST(GapTest, CodeThatIsEnteredIsFollowed) {
  EXPECT_EQ(look(joined({kTable, kCallsNext, kTable, kLocked}), {kAt + 16}), kAt + 48);
  EXPECT_EQ(look(joined({kTable, kBranches}), {kAt + 16}), kAt + 20);
  EXPECT_EQ(look(joined({kPlain, kTable}), {kAt + 16}), kAt + 16) << "a table is not entered";
}

// As by a pointer, beside code that is entered.
TEST(GapTest, CodeThatNothingEntersIsLookedAt) {
  EXPECT_EQ(look(joined({kPlain, kTable, kLocked}), {kAt}), kAt + 32);
  EXPECT_EQ(look(joined({kTable, kPlain, kLocked, kTable}), {kAt + 16}), kAt + 32);
  EXPECT_EQ(look(joined({kTable, kLocked})), std::nullopt) << "a table as a whole";
}

// VIA's rep xsha512, which the decoder does not know.
TEST(GapTest, InstructionsOfPadLockAreCode) {
  const Bytes code{0xf3, 0x0f, 0xa6, 0xe0, 0xf0, 0x48, 0xff, 0x07, 0xc3};
  Decoded found = decode(code, kAt);
  EXPECT_TRUE(found.is_good);
  ASSERT_EQ(found.locked.size(), 1u);
  EXPECT_EQ(found.locked[0].address, kAt + 4);
}

}  // namespace
}  // namespace terrane::patch
