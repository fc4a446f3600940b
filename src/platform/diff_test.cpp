#include "platform/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"

namespace terrane::platform {
namespace {

constexpr std::size_t kGuard = 64;

// A 64-byte aligned block with guard bytes around it that must never change.
class Block {
 public:
  explicit Block(std::size_t bytes)
      : bytes_(bytes),
        memory_(static_cast<std::byte*>(std::aligned_alloc(64, bytes + 2 * kGuard))) {
    std::fill_n(memory_.get(), bytes + 2 * kGuard, std::byte{0x5a});
  }

  std::byte* data() const { return memory_.get() + kGuard; }
  std::byte& operator[](std::size_t at) const { return data()[at]; }
  bool equals(const Block& other) const {
    return std::equal(data(), data() + bytes_, other.data());
  }
  void assign(const Block& other) { std::copy_n(other.data(), bytes_, data()); }
  bool guards_stand() const {
    auto is_guard = [](std::byte value) { return value == std::byte{0x5a}; };
    return std::all_of(memory_.get(), data(), is_guard) &&
           std::all_of(data() + bytes_, data() + bytes_ + kGuard, is_guard);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

struct Pattern {
  const char* name;
  bool (*changes)(std::size_t at, std::size_t bytes, base::Prng& prng);
};

const Pattern kPatterns[] = {
    {"none", [](std::size_t, std::size_t, base::Prng&) { return false; }},
    {"all", [](std::size_t, std::size_t, base::Prng&) { return true; }},
    {"even bytes", [](std::size_t at, std::size_t, base::Prng&) { return at % 2 == 0; }},
    {"every 16th", [](std::size_t at, std::size_t, base::Prng&) { return at % 16 == 3; }},
    {"even words", [](std::size_t at, std::size_t, base::Prng&) { return at / 8 % 2 == 0; }},
    {"first byte", [](std::size_t at, std::size_t, base::Prng&) { return at == 0; }},
    {"last byte", [](std::size_t at, std::size_t n, base::Prng&) { return at == n - 1; }},
    {"unaligned run",
     [](std::size_t at, std::size_t n, base::Prng&) { return at >= 13 && at < n - 5; }},
    {"half", [](std::size_t, std::size_t, base::Prng& prng) { return prng.chance(50); }},
    {"sparse", [](std::size_t, std::size_t, base::Prng& prng) { return prng.below(400) == 0; }},
    {"dense", [](std::size_t, std::size_t, base::Prng& prng) { return prng.chance(97); }},
};
constexpr std::size_t kSizes[] = {64, 128, 448, 512, 576, 1984, 4096, 65536};

struct Case {
  Case(std::size_t bytes, const Pattern& pattern, std::uint64_t seed)
      : size(bytes), page(bytes), twin(bytes) {
    base::Prng prng(seed);
    for (std::size_t at = 0; at < bytes; ++at) {
      twin[at] = static_cast<std::byte>(prng.next());
      bool change = pattern.changes(at, bytes, prng);
      page[at] = change ? twin[at] ^ static_cast<std::byte>(1 + prng.below(255)) : twin[at];
      changed += change;
    }
  }

  std::vector<std::byte> encode(const DiffKernels& kernels, bool update_twin) const {
    std::size_t bound = diff_bound(size);
    auto out = std::make_unique<std::byte[]>(bound);
    std::size_t used = kernels.encode(page.data(), twin.data(), size, update_twin, out.get());
    return {out.get(), out.get() + used};
  }

  std::size_t size;
  Block page;
  Block twin;
  std::size_t changed = 0;
};

template <typename Check>
void for_all_cases(Check check) {
  for (std::size_t bytes : kSizes) {
    for (const Pattern& pattern : kPatterns) {
      for (const DiffKernels& kernels : all_diff_kernels()) {
        SCOPED_TRACE(std::string(kernels.name) + ", " + pattern.name + ", " +
                     std::to_string(bytes));
        check(kernels, Case(bytes, pattern, bytes));
      }
    }
  }
}

TEST(DiffTest, ScalarKernelsComeFirstAndAreAlwaysThere) {
  EXPECT_EQ(all_diff_kernels().front().name, "scalar");
}

TEST(DiffTest, EveryKernelEncodesTheSameBytes) {
  for_all_cases([](const DiffKernels& kernels, const Case& c) {
    std::vector<std::byte> expected = c.encode(all_diff_kernels().front(), false);
    EXPECT_EQ(c.encode(kernels, false), expected);
    EXPECT_EQ(expected.empty(), c.changed == 0);
    EXPECT_TRUE(c.page.guards_stand() && c.twin.guards_stand());
  });
}

TEST(DiffTest, ApplyTurnsTheTwinIntoThePage) {
  for_all_cases([](const DiffKernels& kernels, const Case& c) {
    Block target(c.size);
    target.assign(c.twin);
    EXPECT_TRUE(kernels.apply(target.data(), c.size, c.encode(kernels, false)));
    EXPECT_TRUE(target.equals(c.page) && target.guards_stand());
  });
}

TEST(DiffTest, StoreTurnsTheTwinIntoThePageAndCountsTheBytes) {
  for_all_cases([](const DiffKernels& kernels, const Case& c) {
    Block home(c.size), twin_before(c.size);
    home.assign(c.twin);
    twin_before.assign(c.twin);
    EXPECT_EQ(kernels.store(c.page.data(), c.twin.data(), home.data(), c.size, false), c.changed);
    EXPECT_TRUE(home.equals(c.page) && home.guards_stand() && c.twin.equals(twin_before));
    EXPECT_EQ(kernels.store(c.page.data(), c.twin.data(), home.data(), c.size, true), c.changed);
    EXPECT_TRUE(c.twin.equals(c.page) && c.twin.guards_stand());
    EXPECT_EQ(kernels.store(c.page.data(), c.twin.data(), home.data(), c.size, true), 0u);
  });
}

TEST(DiffTest, AnUpdatedTwinDiffersNoMore) {
  for_all_cases([](const DiffKernels& kernels, const Case& c) {
    c.encode(kernels, true);
    EXPECT_TRUE(c.twin.equals(c.page) && c.twin.guards_stand());
    EXPECT_TRUE(c.encode(kernels, true).empty());
  });
}

TEST(DiffTest, BytesThatDidNotChangeAreNeverStored) {
  for_all_cases([](const DiffKernels& kernels, const Case& c) {
    Block applied(c.size), stored(c.size);
    std::fill_n(applied.data(), c.size, std::byte{0xee});
    stored.assign(applied);
    EXPECT_TRUE(kernels.apply(applied.data(), c.size, c.encode(kernels, false)));
    kernels.store(c.page.data(), c.twin.data(), stored.data(), c.size, false);
    for (std::size_t at = 0; at < c.size; ++at) {
      std::byte expected = c.page[at] == c.twin[at] ? std::byte{0xee} : c.page[at];
      ASSERT_TRUE(applied[at] == expected && stored[at] == expected) << at;
    }
  });
}

TEST(DiffTest, AlternateBytesSurvive) {
  for (const DiffKernels& kernels : all_diff_kernels()) {
    Block home(4096), twin(4096), even(4096), odd(4096);
    for (Block* block : {&home, &twin, &even, &odd}) std::fill_n(block->data(), 4096, std::byte{0});
    for (std::size_t at = 0; at < 4096; ++at) (at % 2 == 0 ? even : odd)[at] = std::byte{7};
    std::vector<std::byte> diff(diff_bound(4096));
    diff.resize(kernels.encode(odd.data(), twin.data(), 4096, false, diff.data()));
    kernels.store(even.data(), twin.data(), home.data(), 4096, false);
    EXPECT_TRUE(kernels.apply(home.data(), 4096, diff));
    EXPECT_EQ(std::count(home.data(), home.data() + 4096, std::byte{7}), 4096) << kernels.name;
  }
}

TEST(DiffTest, ADiffIsSmallWhereLittleChanged) {
  Case c(65536, kPatterns[5], 1);
  EXPECT_EQ(c.encode(diff_kernels(), false).size(), 16u + 8 + 8 + 8);
}

TEST(DiffTest, CopyMakesTwoEqualCopies) {
  for_all_cases([](const DiffKernels& kernels, const Case& c) {
    Block page(c.size), twin(c.size), alone(c.size);
    kernels.copy(c.page.data(), page.data(), twin.data(), c.size);
    kernels.copy(c.page.data(), alone.data(), nullptr, c.size);
    EXPECT_TRUE(page.equals(c.page) && twin.equals(c.page) && alone.equals(c.page));
    EXPECT_TRUE(page.guards_stand() && twin.guards_stand() && alone.guards_stand());
  });
}

// Applies `diff` from memory of exactly its size, so that AddressSanitizer sees a read past its
// end.
bool apply_exactly(const DiffKernels& kernels, const Block& target, std::size_t bytes,
                   const std::vector<std::byte>& diff) {
  auto exact = std::make_unique<std::byte[]>(diff.size());
  std::copy(diff.begin(), diff.end(), exact.get());
  return kernels.apply(target.data(), bytes, {exact.get(), diff.size()});
}

TEST(DiffTest, CutAndLengthenedDiffsAreRefused) {
  for (const DiffKernels& kernels : all_diff_kernels()) {
    Case c(576, kPatterns[8], 3);
    std::vector<std::byte> whole = c.encode(kernels, false);
    for (std::size_t size = 1; size < whole.size(); ++size) {
      std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(apply_exactly(kernels, c.twin, c.size, cut)) << kernels.name << size;
    }
    whole.push_back(std::byte{0});
    EXPECT_FALSE(apply_exactly(kernels, c.twin, c.size, whole));
    EXPECT_TRUE(c.twin.guards_stand());
  }
}

TEST(DiffTest, KernelsAgreeOnDamagedDiffsAndStayInsideTheBlock) {
  base::Prng prng(11);
  std::size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::size_t bytes = kSizes[prng.below(6)];
    Case c(bytes, kPatterns[prng.below(std::size(kPatterns))], prng.next());
    std::vector<std::byte> diff = c.encode(diff_kernels(), false);
    for (std::uint32_t hits = 1 + prng.below(3); hits > 0 && !diff.empty(); --hits) {
      // The front decides most: hit it as often as all the rest.
      std::size_t range = prng.chance(50) ? std::min<std::size_t>(diff.size(), 24) : diff.size();
      diff[prng.below(static_cast<std::uint32_t>(range))] ^= std::byte(1u << prng.below(8));
    }
    Block expected(bytes), target(bytes);
    expected.assign(c.twin);
    bool accepted = apply_exactly(all_diff_kernels().front(), expected, bytes, diff);
    refused += !accepted;
    for (const DiffKernels& kernels : all_diff_kernels()) {
      target.assign(c.twin);
      EXPECT_EQ(apply_exactly(kernels, target, bytes, diff), accepted) << kernels.name;
      EXPECT_TRUE(target.guards_stand());
      EXPECT_TRUE(!accepted || target.equals(expected)) << kernels.name;
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(DiffTest, NoiseIsRefusedOrStaysInsideTheBlock) {
  base::Prng prng(12);
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> noise(prng.below(700));
    for (std::byte& value : noise) {
      value = prng.chance(70) ? std::byte{0} : static_cast<std::byte>(prng.next());
    }
    for (const DiffKernels& kernels : all_diff_kernels()) {
      Block target(576);
      apply_exactly(kernels, target, 576, noise);
      ASSERT_TRUE(target.guards_stand()) << kernels.name;
    }
  }
}

}  // namespace
}  // namespace terrane::platform
