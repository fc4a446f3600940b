#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "platform/fault_source.h"
#include "platform/futex_lock.h"
#include "platform/mapping.h"
#include "platform/page_states.h"

namespace terrane::platform {

// The pages of an application view to which a store must fault at once, where the kernel else only
// notes it (uffd-async). They are sealed by mprotect, so this also keeps what the program itself
// forbids by mprotect. A process may have so many mappings (vm.max_map_count): near a budget, pages
// leave the view and are no longer sealed. Guarantees that no store to a sealed page passes. All
// but create() and set_rights() are async-signal-safe; any thread. The mapping outlives it.
class SealedPages {
 public:
  static base::Result<std::unique_ptr<SealedPages>> create(const DualMapping& mapping);

  // While the result lives, the pages are sealed: enter them meanwhile. They may leave the view and
  // be no longer sealed at any time afterwards.
  [[nodiscard]] std::unique_lock<FutexLock> seal(Span span);
  void unseal(Span span);

  // mprotect for the program, within one stretch of the view: 0, or -1 and errno.
  int set_rights(Span span, int rights);
  // Whether what the program asked for by set_rights() permits the access.
  bool permits(std::uint64_t offset, Access access);

 private:
  struct Stretch {
    std::uint64_t begin, end;  // pages
    int rights;
  };
  using Stretches = std::vector<Stretch>;  // in their order, without those with all rights

  SealedPages(const DualMapping& mapping, PageStates states);
  const Stretch* stretch_at(std::uint64_t page) const;
  Stretches with(const Stretch& added) const;
  int rights_of(std::uint64_t page) const;
  std::uint64_t end_of_part(std::uint64_t page, std::uint64_t limit) const;
  void change(Span span, PageState target);
  void apply(std::uint64_t first, std::uint64_t end, PageState target);
  void give_up(std::uint64_t spared);
  void remove_sealed(std::uint64_t first, std::uint64_t end) const;
  std::byte* address(std::uint64_t page) const;

  const DualMapping& mapping_;
  std::mutex rights_lock_;  // of threads that call set_rights()
  FutexLock lock_;          // of all below; held over the system calls
  PageStates states_;       // kRead: sealed
  std::unique_ptr<const Stretches> stretches_ = std::make_unique<const Stretches>();
  std::uint64_t budget_;
  std::uint64_t hand_ = 0;        // where pages are given up next
  std::atomic<bool> any_{false};  // a page was sealed at some time
};

// Takes pages out of a view: MADV_DONTNEED, where the program has locked memory, too. `part`: what
// is unlocked then.
struct AddressRange {
  std::byte* begin;
  std::uint64_t bytes;
};
void remove_entries(AddressRange range, AddressRange part);

}  // namespace terrane::platform
