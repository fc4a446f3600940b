#include "membership/descriptors.h"

#include <unistd.h>

#include <bit>

#include "base/own_process.h"

namespace terrane::membership {

void Descriptors::own(int fd) noexcept {
  auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= kMost) return;
  process_.store(base::own_process(), std::memory_order_relaxed);
  words_[index / 64].fetch_or(std::uint64_t{1} << index % 64);
}

void Descriptors::give_up(int fd) noexcept {
  auto index = static_cast<std::size_t>(fd);
  if (fd < 0 || index >= kMost) return;
  words_[index / 64].fetch_and(~(std::uint64_t{1} << index % 64));
}

bool Descriptors::owns(int fd) const noexcept {
  auto first = static_cast<unsigned>(fd);
  return fd >= 0 && first_from(first, first).has_value();
}

std::optional<int> Descriptors::first_from(unsigned fd, unsigned last) const noexcept {
  for (std::size_t index = fd; index < kMost && index <= last;) {
    std::uint64_t word = words_[index / 64].load() >> index % 64;
    if (word == 0) {
      index = (index / 64 + 1) * 64;
      continue;
    }
    index += static_cast<std::size_t>(std::countr_zero(word));
    if (index > last || process_.load(std::memory_order_relaxed) != base::own_process())
      return std::nullopt;
    return static_cast<int>(index);
  }
  return std::nullopt;
}

}  // namespace terrane::membership
