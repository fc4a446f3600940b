#include "platform/page_states.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "platform/mapping.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kPerWord = 32;
constexpr std::uint64_t kLowBits = 0x5555555555555555u;  // the lower bit of each page

std::uint64_t bytes_for(std::uint64_t pages) { return (pages + kPerWord - 1) / kPerWord * 8; }

std::uint64_t pattern(PageState state) { return kLowBits * static_cast<std::uint64_t>(state); }

// The pages of a word from `first` on, `count` of them, both bits each.
std::uint64_t mask(std::uint64_t first, std::uint64_t count) {
  std::uint64_t ones = count == kPerWord ? ~std::uint64_t{0} : (std::uint64_t{1} << 2 * count) - 1;
  return ones << 2 * first;
}

}  // namespace

base::Result<PageStates> PageStates::create(std::uint64_t pages) {
  void* at = map_sparse(nullptr, bytes_for(pages), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (at == MAP_FAILED) return base::errno_error("no address space for the states of pages");
  madvise(at, bytes_for(pages), MADV_NOHUGEPAGE);  // sparse
  madvise(at, bytes_for(pages), MADV_DONTDUMP);
  madvise(at, bytes_for(pages), MADV_DONTFORK);  // a child has no view
  PageStates states;
  states.words_ = static_cast<std::uint64_t*>(at);
  states.pages_ = pages;
  return states;
}

PageStates::PageStates(PageStates&& other) noexcept { *this = std::move(other); }

PageStates& PageStates::operator=(PageStates&& other) noexcept {
  std::swap(words_, other.words_);
  std::swap(pages_, other.pages_);
  std::swap(runs_, other.runs_);
  std::swap(high_water_, other.high_water_);
  return *this;
}

PageStates::~PageStates() {
  if (words_ != nullptr) munmap(words_, bytes_for(pages_));
}

PageState PageStates::at(std::uint64_t page) const {
  return static_cast<PageState>(words_[page / kPerWord] >> page % kPerWord * 2 & 3);
}

std::uint64_t PageStates::end_of_run(std::uint64_t page, std::uint64_t limit) const {
  std::uint64_t expected = pattern(at(page));
  std::uint64_t skip = page % kPerWord;
  for (std::uint64_t word = page / kPerWord; word * kPerWord < limit; ++word, skip = 0) {
    std::uint64_t differs = (words_[word] ^ expected) & mask(skip, kPerWord - skip);
    if (differs == 0) continue;
    auto found = static_cast<std::uint64_t>(std::countr_zero(differs)) / 2;
    return std::min(word * kPerWord + found, limit);
  }
  return limit;
}

std::uint64_t PageStates::end_of_presence(std::uint64_t page, std::uint64_t limit) const {
  if (at(page) == PageState::kNone) return end_of_run(page, limit);
  std::uint64_t skip = page % kPerWord;
  for (std::uint64_t word = page / kPerWord; word * kPerWord < limit; ++word, skip = 0) {
    std::uint64_t absent = ~words_[word] & kLowBits & mask(skip, kPerWord - skip);
    if (absent == 0) continue;
    auto found = static_cast<std::uint64_t>(std::countr_zero(absent)) / 2;
    return std::min(word * kPerWord + found, limit);
  }
  return limit;
}

// How often the state changes between two neighbours inside [first, end).
std::uint64_t PageStates::inner_boundaries(std::uint64_t first, std::uint64_t end) const {
  std::uint64_t count = 0;
  for (std::uint64_t at = end_of_run(first, end); at < end; at = end_of_run(at, end)) ++count;
  return count;
}

void PageStates::set(std::uint64_t first, std::uint64_t end, PageState state) {
  std::uint64_t before = first > 0 ? first - 1 : 0;
  std::uint64_t after = std::min(end + 1, pages_);
  runs_ -= inner_boundaries(before, after);
  for (std::uint64_t page = first; page < end;) {
    std::uint64_t in_word = page % kPerWord;
    std::uint64_t count = std::min(kPerWord - in_word, end - page);
    std::uint64_t bits = mask(in_word, count);
    std::uint64_t& word = words_[page / kPerWord];
    std::uint64_t changed = (word & ~bits) | (pattern(state) & bits);
    if (changed != word) word = changed;  // a word that was never touched stays without memory
    page += count;
  }
  runs_ += inner_boundaries(before, after);
  if (state != PageState::kNone) high_water_ = std::max(high_water_, end);
}

}  // namespace terrane::platform
