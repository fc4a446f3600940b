#pragma once

#include <cstdint>

#include "base/result.h"

namespace terrane::platform {

// What the application view grants on a page.
enum class PageState : std::uint8_t { kNone = 0, kRead = 1, kWrite = 3 };

// Remembers the state of every page of a view, and of how many runs of equal states the view is
// made: so many mappings the kernel keeps for it. Two bits a page, in sparse memory of its own; a
// new table says kNone throughout. Never allocates after create(). Guarded by its user.
class PageStates {
 public:
  static base::Result<PageStates> create(std::uint64_t pages);

  PageStates() = default;
  PageStates(PageStates&&) noexcept;
  PageStates& operator=(PageStates&&) noexcept;
  ~PageStates();

  std::uint64_t pages() const { return pages_; }
  // How many runs there are.
  std::uint64_t runs() const { return runs_; }
  // All pages from here on are kNone, and always were.
  std::uint64_t high_water() const { return high_water_; }

  PageState at(std::uint64_t page) const;
  // The first page after `page` of another state, or `limit`.
  std::uint64_t end_of_run(std::uint64_t page, std::uint64_t limit) const;
  // The same for "kNone or not".
  std::uint64_t end_of_presence(std::uint64_t page, std::uint64_t limit) const;
  void set(std::uint64_t first, std::uint64_t end, PageState state);

 private:
  std::uint64_t inner_boundaries(std::uint64_t first, std::uint64_t end) const;

  std::uint64_t* words_ = nullptr;
  std::uint64_t pages_ = 0;
  std::uint64_t runs_ = 1;
  std::uint64_t high_water_ = 0;
};

}  // namespace terrane::platform
