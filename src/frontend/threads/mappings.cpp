// Mappings that the program makes itself: its anonymous memory is shared, and so are the bytes of a
// file that it maps privately.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <map>
#include <mutex>

#include "base/log.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/program.h"
#include "platform/page_size.h"

using terrane::frontend::Elsewhere;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::SharedRange;
using terrane::frontend::pages::refuse;
using namespace terrane::frontend::threads;

namespace {

// What this node has mapped for the program, by address.
struct Mapped {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> regions;
};
Mapped& mapped() {
  static auto* one = new Mapped();
  return *one;
}

bool is_programs_call(const void* caller) {
  return Program::get() != nullptr && is_in_program() && Program::get()->allocates_shared(caller);
}

std::size_t whole_pages(std::size_t bytes) {
  std::size_t page = terrane::platform::page_bytes();
  return (bytes + page - 1) / page * page;
}

bool has_pages(const void* address) { return SharedRange::contains(address); }

// The file's bytes, as far as it has any.
bool fill(void* region, std::size_t bytes, int fd, off_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    ssize_t got = pread(fd, static_cast<std::byte*>(region) + done, bytes - done,
                        offset + static_cast<off_t>(done));
    if (got < 0) return false;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

void* map_shared(std::size_t bytes, int fd, off_t offset) {
  void* region = Program::get()->take_region(whole_pages(bytes));
  if (region == nullptr) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  if (fd >= 0 && !fill(region, bytes, fd, offset)) {
    int error = errno;
    Program::get()->give_region(region);
    errno = error;
    return MAP_FAILED;
  }
  Private ours;
  std::lock_guard hold(mapped().mutex);
  mapped().regions[reinterpret_cast<std::uintptr_t>(region)] = whole_pages(bytes);
  return region;
}

// Whether the mapping can be memory of the program. Says so once where it is the node's alone.
bool can_be_shared(int rights, int flags) {
  static std::atomic_flag said;
  constexpr int kPlaced = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN | MAP_HUGETLB;
  bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  bool copies = anonymous || (flags & MAP_TYPE) == MAP_PRIVATE;
  if ((flags & kPlaced) == 0 && copies && rights != PROT_NONE && (rights & PROT_EXEC) == 0)
    return true;
  refuse(said, 0,
         "mmap with MAP_FIXED, PROT_NONE or PROT_EXEC, and shared mappings of files, are memory of "
         "one node: threads of other nodes cannot use it");
  return false;
}

// A part of a mapping stays until all of it goes.
int unmap_shared(void* address, std::size_t bytes) {
  {
    Private ours;
    std::lock_guard hold(mapped().mutex);
    auto found = mapped().regions.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == mapped().regions.end() || found->second != whole_pages(bytes)) return 0;
    mapped().regions.erase(found);
  }
  Program::get()->give_region(address);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* mmap(void* address, size_t bytes, int rights, int flags, int fd, off_t offset) noexcept {
  bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  if (bytes > 0 && is_programs_call(__builtin_return_address(0)) && can_be_shared(rights, flags))
    return map_shared(bytes, anonymous ? -1 : fd, offset);
  if (!anonymous && is_elsewhere(fd)) {
    Elsewhere::get()->refuse("mmap", fd);
    return MAP_FAILED;
  }
  return next<"mmap">(::mmap)(address, bytes, rights, flags, fd, offset);
}

void* mmap64(void* address, size_t bytes, int rights, int flags, int fd, off64_t offset) noexcept {
  if (bytes > 0 && is_programs_call(__builtin_return_address(0)) && can_be_shared(rights, flags))
    return map_shared(bytes, (flags & MAP_ANONYMOUS) != 0 ? -1 : fd, offset);
  return mmap(address, bytes, rights, flags, fd, offset);
}

int munmap(void* address, size_t bytes) noexcept {
  if (is_in_program() && has_pages(address)) return unmap_shared(address, bytes);
  return next<"munmap">(::munmap)(address, bytes);
}

// Shared memory may be read and written, whatever the program says.
int mprotect(void* address, size_t bytes, int rights) noexcept {
  if (is_in_program() && has_pages(address)) return 0;
  return next<"mprotect">(::mprotect)(address, bytes, rights);
}

int madvise(void* address, size_t bytes, int advice) noexcept {
  if (!is_in_program() || !has_pages(address))
    return next<"madvise">(::madvise)(address, bytes, advice);
  if (advice == MADV_DONTNEED) std::memset(address, 0, whole_pages(bytes));
  return 0;
}

void* mremap(void* address, size_t before, size_t bytes, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  void* to = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  if (!is_in_program() || !has_pages(address))
    return next<"mremap">(::mremap)(address, before, bytes, flags, to);
  if (whole_pages(bytes) <= whole_pages(before) && (flags & MREMAP_FIXED) == 0) return address;
  if (flags != MREMAP_MAYMOVE) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* moved = map_shared(bytes, -1, 0);
  if (moved == MAP_FAILED) return moved;
  std::memcpy(moved, address, std::min(before, bytes));
  unmap_shared(address, before);
  return moved;
}

}  // extern "C"
#pragma GCC visibility pop
