#include "frontend/threads/library_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "frontend/interpose/next.h"
#include "platform/page_size.h"

namespace terrane::frontend::threads::library_window {
namespace {

constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool take(std::uintptr_t begin, std::uintptr_t end) {
  auto* at = reinterpret_cast<void*>(begin);
  void* got = next<"mmap">(::mmap)(at, end - begin, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == at) return true;
  if (got != MAP_FAILED) next<"munmap">(::munmap)(got, end - begin);
  return false;
}

void give(std::uintptr_t begin, std::uintptr_t end) {
  next<"munmap">(::munmap)(reinterpret_cast<void*>(begin), end - begin);
}

// One mapping of this process, as a line of /proc/self/maps tells it.
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  bool is_ours = false;   // kept free by us
  bool is_stack = false;  // it grows downwards
};

Mapping parse(std::string_view line) {
  Mapping one;
  const char* last = line.data() + line.size();
  auto begin = std::from_chars(line.data(), last, one.begin, 16);
  auto end = std::from_chars(begin.ptr + 1, last, one.end, 16);
  std::string_view rest(end.ptr, static_cast<std::size_t>(last - end.ptr));
  one.is_stack = rest.ends_with("[stack]");
  one.is_ours = rest.starts_with(" ---p ") && rest.find(" 00:00 0") != std::string_view::npos;
  return one;
}

std::string read_mappings() {
  std::string text;
  base::UniqueFd file(next<"open">(::open)("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  auto* buffer = new char[1 << 16];
  for (ssize_t got = 0; (got = next<"read">(::read)(file.get(), buffer, 1 << 16)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  delete[] buffer;
  return text;
}

// Calls function(mapping) for each, in the order of their addresses.
template <typename Function>
void for_each_mapping(Function function) {
  std::string text = read_mappings();
  for (std::string_view left = text; !left.empty();) {
    std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    function(parse(line));
  }
}

// Whether the kernel chooses the highest free place, and not the lowest, as it does without a limit
// of the stack.
bool chooses_highest() {
  std::size_t page = platform::page_bytes();
  void* probe = next<"mmap">(::mmap)(nullptr, page, PROT_NONE, kFlags, -1, 0);
  if (probe == MAP_FAILED) return true;
  next<"munmap">(::munmap)(probe, page);
  return reinterpret_cast<std::uintptr_t>(probe) > kEnd;
}

}  // namespace

bool reserve() { return take(kBase, kEnd); }

// Whether there was a place outside. Everything is read before anything is taken: then there is no
// place for memory of our own.
bool Opened::fill_places(bool above) {
  std::uint32_t end = count_;
  std::uintptr_t at = above ? kEnd : platform::page_bytes() * 16;
  for_each_mapping([&](const Mapping& one) {
    bool concerns = above ? one.begin >= kEnd : one.begin <= kBase;
    if (concerns && !one.is_stack && at < one.begin && end < kMost)
      filled_[end++] = {at, one.begin};
    at = std::max(at, one.end);
  });
  bool found = end > count_;
  for (std::uint32_t i = count_; i < end; ++i)
    if (take(filled_[i].begin, filled_[i].end)) filled_[count_++] = filled_[i];
  return found;
}

// What other threads map or unmap meanwhile leaves places that one look does not know, and so does
// the memory of the look itself.
Opened::Opened() {
  constexpr int kMostLooks = 6;
  auto* ranges = next<"mmap">(::mmap)(nullptr, 2 * kMost * sizeof(Range), PROT_READ | PROT_WRITE,
                                      kFlags, -1, 0);
  if (ranges == MAP_FAILED) return;
  filled_ = static_cast<Range*>(ranges);
  bool above = chooses_highest();
  for (int looks = 0; looks < kMostLooks && fill_places(above); ++looks) continue;
  Range* kept = filled_ + kMost;
  std::uint32_t to_give = 0;
  for_each_mapping([&](const Mapping& one) {
    Range inside{std::max(one.begin, kBase), std::min(one.end, kEnd)};
    if (one.is_ours && inside.begin < inside.end && to_give < kMost) kept[to_give++] = inside;
  });
  for (std::uint32_t i = 0; i < to_give; ++i) give(kept[i].begin, kept[i].end);
}

Opened::~Opened() {
  if (filled_ == nullptr) return;
  for (std::uint32_t i = 0; i < count_; ++i) give(filled_[i].begin, filled_[i].end);
  next<"munmap">(::munmap)(filled_, 2 * kMost * sizeof(Range));
  std::uintptr_t at = kBase;
  for_each_mapping([&](const Mapping& one) {
    if (one.end <= kBase || one.begin >= kEnd) return;
    if (at < one.begin) take(at, one.begin);
    at = std::max(at, one.end);
  });
  if (at < kEnd) take(at, kEnd);
}

}  // namespace terrane::frontend::threads::library_window
