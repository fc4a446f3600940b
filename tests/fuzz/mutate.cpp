#include "fuzz/mutate.h"

#include <algorithm>
#include <cstring>

namespace terrane::fuzz {
namespace {

constexpr std::size_t kLongest = 1 << 16;
constexpr std::uint64_t kNumbers[] = {0,       1,      2,          0x7f,       0x80,
                                      0xff,    0x7fff, 0xffff,     0x7fffffff, 0x80000000,
                                      1 << 24, 4096,   0xffffffff, ~0ull >> 1, ~0ull};

std::size_t place(const Input& input, base::Prng& prng) {
  return prng.below(static_cast<std::uint32_t>(input.size()) + 1);
}

// A random part of an input: offset and length.
struct Part {
  std::size_t from, size;
};
Part part(const Input& input, base::Prng& prng) {
  std::size_t from = place(input, prng);
  std::size_t most = std::min<std::size_t>(input.size() - from, prng.chance(80) ? 16 : 4096);
  return {from, prng.below(static_cast<std::uint32_t>(most) + 1)};
}

void insert(Input& input, std::size_t at, std::span<const std::byte> bytes) {
  Input copy(bytes.begin(), bytes.end());
  input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), copy.begin(), copy.end());
}

void set_number(Input& input, base::Prng& prng) {
  std::uint64_t number = kNumbers[prng.below(std::size(kNumbers))];
  if (prng.chance(30)) number = prng.below(300);
  std::size_t size = std::size_t{1} << prng.below(4);
  if (input.size() < size) return;
  std::size_t at = prng.below(static_cast<std::uint32_t>(input.size() - size) + 1);
  std::memcpy(input.data() + at, &number, size);
}

void insert_noise(Input& input, base::Prng& prng) {
  Input noise(1 + prng.below(16));
  for (std::byte& byte : noise) byte = static_cast<std::byte>(prng.below(256));
  insert(input, place(input, prng), noise);
}

void change(Input& input, base::Prng& prng) {
  Part some = part(input, prng);
  auto begin = input.begin() + static_cast<std::ptrdiff_t>(some.from);
  switch (prng.below(6)) {
    case 0:
      if (!input.empty()) {
        input[prng.below(static_cast<std::uint32_t>(input.size()))] ^=
            static_cast<std::byte>(1u << prng.below(8));
      }
      break;
    case 1:
      set_number(input, prng);
      break;
    case 2:
      input.erase(begin, begin + static_cast<std::ptrdiff_t>(some.size));
      break;
    case 3:
      insert(input, place(input, prng), std::span(input).subspan(some.from, some.size));
      break;
    case 4:
      insert_noise(input, prng);
      break;
    default:
      if (!input.empty()) {
        input[prng.below(static_cast<std::uint32_t>(input.size()))] =
            static_cast<std::byte>(prng.below(256));
      }
  }
}

}  // namespace

Input mutated(const std::vector<Input>& seeds, base::Prng& prng) {
  auto any = [&]() -> const Input& {
    return seeds[prng.below(static_cast<std::uint32_t>(seeds.size()))];
  };
  Input input = any();
  if (prng.chance(15)) {
    input.resize(place(input, prng));
    const Input& other = any();
    insert(input, input.size(), std::span(other).subspan(place(other, prng)));
  }
  for (std::uint32_t changes = prng.below(8); changes > 0; --changes) change(input, prng);
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

}  // namespace terrane::fuzz
