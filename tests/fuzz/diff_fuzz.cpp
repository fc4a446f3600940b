// Diffs that anyone may have sent: every kernel refuses the same ones, and stores nothing outside
// the block.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "platform/diff.h"

namespace terrane::fuzz {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<std::byte, Free>;

constexpr std::size_t kGuard = 64;

// A block with guards around it, filled with a pattern.
Block make_block(std::size_t bytes) {
  Block block(static_cast<std::byte*>(std::aligned_alloc(64, bytes + 2 * kGuard)));
  std::memset(block.get(), 0x5a, bytes + 2 * kGuard);
  return block;
}

bool guards_are_whole(const Block& block, std::size_t bytes) {
  for (std::size_t i = 0; i < kGuard; ++i) {
    if (block.get()[i] != std::byte{0x5a}) return false;
    if (block.get()[kGuard + bytes + i] != std::byte{0x5a}) return false;
  }
  return true;
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  std::size_t bytes = (std::size_t{1} + reader.take<std::uint16_t>() % 1024) * 64;
  std::span<const std::byte> rest = reader.rest();
  // Of its exact size, so that a sanitizer sees a read beyond it.
  std::vector<std::byte> diff(rest.begin(), rest.end());
  Block first;
  bool first_good = false;
  for (const platform::DiffKernels& kernels : platform::all_diff_kernels()) {
    Block block = make_block(bytes);
    bool good = kernels.apply(block.get() + kGuard, bytes, diff);
    TERRANE_CHECK(guards_are_whole(block, bytes), "a diff stays inside its block");
    if (!first) {
      first = std::move(block);
      first_good = good;
      continue;
    }
    TERRANE_CHECK(good == first_good, "every kernel refuses the same diffs");
    bool same = !good || std::memcmp(block.get(), first.get(), bytes + 2 * kGuard) == 0;
    TERRANE_CHECK(same, "every kernel stores the same bytes");
  }
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  for (std::size_t bytes : {64, 512, 640, 4096, 65536}) {
    for (std::size_t step : {1, 3, 8, 100, 5000}) {
      Block page = make_block(bytes);
      Block twin = make_block(bytes);
      for (std::size_t at = step / 2; at < bytes; at += step) page.get()[at] = std::byte{0xc3};
      std::vector<std::byte> diff(platform::diff_bound(bytes));
      diff.resize(
          platform::diff_kernels().encode(page.get(), twin.get(), bytes, false, diff.data()));
      all.push_back(
          InputWriter().put(static_cast<std::uint16_t>(bytes / 64 - 1)).raw(diff).input());
    }
  }
  return all;
}

}  // namespace terrane::fuzz
