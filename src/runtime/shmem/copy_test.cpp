#include "runtime/shmem/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace terrane::runtime::shmem {
namespace {

std::vector<std::byte> numbered(std::uint64_t bytes) {
  std::vector<std::byte> made(bytes);
  std::uint64_t state = 1;
  for (std::byte& one : made) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    one = static_cast<std::byte>(state >> 56);
  }
  return made;
}

// Past the caches go whole pages, then lines, then what is left, from a line's begin on.
TEST(ShmemCopyTest, LongCopiesAreExactWhereverTheyBeginAndEnd) {
  constexpr std::uint64_t kRoom = 256, kMost = kStreamBytes + 5 * 4096 + 77;
  const std::vector<std::byte> from = numbered(kMost + kRoom);
  for (std::uint64_t bytes : {kStreamBytes, kStreamBytes + 1, kStreamBytes + 4 * 4096, kMost}) {
    for (auto [to_at, from_at] : {std::pair{0, 0}, {1, 0}, {0, 3}, {63, 17}, {64, 8}}) {
      std::vector<std::byte> to(kMost + kRoom, std::byte{0x5a});
      std::vector<std::byte> expected = to;
      copy(to.data() + to_at, from.data() + from_at, bytes);
      std::memcpy(expected.data() + to_at, from.data() + from_at, bytes);
      ASSERT_EQ(to, expected) << bytes << " bytes to " << to_at << " from " << from_at;
    }
  }
}

TEST(ShmemCopyTest, CopiesThatFetchAheadAreExactToo) {
  const std::vector<std::byte> from = numbered(9000);
  for (std::uint64_t bytes : {0, 1, 63, 64, 65, 4096, 8195}) {
    for (auto [to_at, from_at] : {std::pair{0, 0}, {1, 0}, {0, 3}, {63, 17}}) {
      std::vector<std::byte> to(9000, std::byte{0x5a});
      std::vector<std::byte> expected = to;
      copy_ahead(to.data() + to_at, from.data() + from_at, bytes);
      std::memcpy(expected.data() + to_at, from.data() + from_at, bytes);
      ASSERT_EQ(to, expected) << bytes << " bytes to " << to_at << " from " << from_at;
    }
  }
}

}  // namespace
}  // namespace terrane::runtime::shmem
