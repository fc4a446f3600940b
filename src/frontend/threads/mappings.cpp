// Mappings that the program makes itself: its anonymous memory is shared, and so are the bytes of a
// file that it maps privately. Other files are mapped by every node (file_maps.h).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>
#include <string_view>

#include "base/log.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/file_maps.h"
#include "frontend/threads/program.h"
#include "platform/page_size.h"
#include "platform/view_rights.h"
#include "runtime/memory_statistics.h"

using terrane::frontend::Elsewhere;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::SharedRange;
using terrane::frontend::pages::refuse;
using namespace terrane::frontend::threads;

namespace {

using Region = terrane::protocol::Region;

// The beginning of the names of allocations that hold a file's bytes that were mapped for reading.
constexpr std::string_view kFile = terrane::runtime::kMappedFile, kReadFile = "file r ";

bool is_programs_call(const void* caller) {
  return Program::get() != nullptr && is_in_program() && Program::get()->allocates_shared(caller);
}

std::size_t whole_pages(std::size_t bytes) {
  std::size_t page = terrane::platform::page_bytes();
  return (bytes + page - 1) / page * page;
}

bool has_pages(const void* address) { return SharedRange::contains(address); }

// Not in a child of fork, whose mappings are its own.
bool has_file(const void* address) {
  return SharedRange::exists() && is_in_program() && file_maps::hold(address);
}

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

// Shared memory with the file's bytes, if there is a file.
void* map_shared(std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  Program& program = *Program::get();
  std::string place;
  {
    Private ours;
    std::string_view kind = fd < 0                       ? terrane::runtime::kMappedMemory
                            : (rights & PROT_WRITE) == 0 ? kReadFile
                                                         : kFile;
    place = std::string(kind) + place_of_call();
  }
  bool sparse = (flags & MAP_NORESERVE) != 0;
  void* region = program.take_region(whole_pages(bytes), {}, place, sparse);
  if (region == nullptr) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  if (fd >= 0 && !fill(region, bytes, fd, offset)) {
    int error = errno;
    program.give_region(region);
    errno = error;
    return MAP_FAILED;
  }
  return region;
}

// Whether nobody writes to the file by this descriptor: then its bytes are those of now.
bool is_read_only(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
}

// Whether the mapping can be memory of the program. Says so once where it is the node's alone.
bool can_be_shared(int rights, int flags, int fd) {
  static std::atomic_flag said;
  constexpr int kPlaced = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN | MAP_HUGETLB;
  bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  bool reads = (rights & PROT_WRITE) == 0;
  bool copies = anonymous || (flags & MAP_TYPE) == MAP_PRIVATE || (reads && is_read_only(fd));
  bool executes = (rights & PROT_EXEC) != 0;
  bool can_execute = anonymous && !terrane::platform::source_uses_rights();
  if ((flags & kPlaced) == 0 && copies && rights != PROT_NONE && (!executes || can_execute))
    return true;
  refuse(
      said, 0,
      "mmap with MAP_FIXED, PROT_NONE, or PROT_EXEC of a file, and a shared mapping of a file for "
      "writing where not all nodes have that file on one kernel, are memory of one node: threads "
      "of other nodes cannot use it");
  return false;
}

// The allocation that holds the address, whichever node has made it.
Region region_of(const void* address) {
  Program& program = *Program::get();
  std::uint64_t block = program.block_of(address);
  Region region = program.node().allocation_of(block);
  if (region.blocks.count != 0) return region;
  program.node().touch(program.node().address_of(block), 1, false);  // which asks for it
  return program.node().allocation_of(block);
}

// A stretch whose rights the program has changed.
struct Stretch {
  void* address;
  std::size_t bytes;
};

int set_rights(void* address, std::size_t bytes, int rights) {
  if (reinterpret_cast<std::uintptr_t>(address) % terrane::platform::page_bytes() != 0) {
    errno = EINVAL;
    return -1;
  }
  Private ours;  // the view's own call is not the program's
  return terrane::runtime::set_rights(Program::get()->node(), address, whole_pages(bytes), rights);
}

int give_rights(void* address, std::size_t bytes) {
  int executable = terrane::platform::views_are_executable() ? PROT_EXEC : 0;
  return set_rights(address, bytes, PROT_READ | PROT_WRITE | executable);
}

// Before the memory is used for something else.
void give_rights_everywhere(void* address, std::size_t bytes) {
  Program& program = *Program::get();
  if (program.control().has_protected == 0) return;
  Stretch all{address, bytes};
  for (std::uint32_t n = 0; n < program.node().nodes(); ++n)
    if (n != program.self())
      run_on(
          n,
          [](void* raw) -> void* {
            Stretch one = *static_cast<Stretch*>(raw);
            give_rights(one.address, one.bytes);
            return nullptr;
          },
          &all);
  give_rights(address, bytes);
}

// A part of a mapping stays until all of it goes.
int unmap_shared(void* address, std::size_t bytes) {
  static std::atomic_flag said;
  Program& program = *Program::get();
  Region region = region_of(address);
  if (region.blocks.first == program.block_of(address) && region.bytes == whole_pages(bytes)) {
    give_rights_everywhere(address, whole_pages(bytes));
    program.give_region(address);
    return 0;
  }
  refuse(said, 0,
         "munmap of a part of shared memory: the part stays as it is; memory goes when all of a "
         "mapping is unmapped by one call");
  return 0;
}

// What the program has written there are instructions: every node may execute them. Rights of other
// nodes are taken back with the memory.
int make_executable(void* address, std::size_t bytes, int rights) {
  Program& program = *Program::get();
  if (set_rights(address, bytes, rights) != 0) return -1;
  program.control().has_protected = 1;
  Stretch all{address, bytes};
  run_on_others(
      [](void* raw) -> void* {
        constexpr int kAll = PROT_READ | PROT_WRITE | PROT_EXEC;
        Stretch one = *static_cast<Stretch*>(raw);
        if (set_rights(one.address, one.bytes, kAll) != 0)
          Program::get()->node().fail("mprotect: this node cannot make shared memory executable");
        return nullptr;
      },
      &all);
  return 0;
}

// nullptr: the mapping is memory of this node alone.
void* map_for_program(std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  if (!anonymous)
    if (void* at = file_maps::map(bytes, rights, flags, fd, offset)) return at;
  if (!can_be_shared(rights, flags, fd)) return nullptr;
  void* at = map_shared(bytes, rights, flags, anonymous ? -1 : fd, offset);
  if ((rights & PROT_EXEC) != 0 && at != MAP_FAILED) make_executable(at, bytes, rights);
  return at;
}

// Rights are this node's: they hold for the threads that run here.
int protect_shared(void* address, std::size_t bytes, int rights) {
  static std::atomic_flag said;
  Program& program = *Program::get();
  bool executes = (rights & PROT_EXEC) != 0 && !terrane::platform::views_are_executable();
  bool all = (rights & (PROT_READ | PROT_WRITE)) == (PROT_READ | PROT_WRITE);
  bool can = !terrane::platform::source_uses_rights();
  bool was_for_reading =
      rights == PROT_READ && std::string_view(region_of(address).name).starts_with(kReadFile);
  if ((all && !executes && !can) || was_for_reading) return 0;
  if (!can) {
    errno = refuse(said, EACCES,
                   "mprotect: rights to shared memory, but to read and to write, need userfaultfd "
                   "(see terrane info). The call fails with EACCES");
    return -1;
  }
  if (executes) return make_executable(address, bytes, rights);
  if (all) return give_rights(address, bytes);
  program.control().has_protected = 1;
  return set_rights(address, bytes, rights);
}

// What the kernel would do to private memory: zeros, or the file's bytes, which stay.
int advise_shared(void* address, std::size_t bytes, int advice) {
  if (advice != MADV_DONTNEED && advice != MADV_REMOVE) return 0;
  bool is_file = std::string_view(region_of(address).name).starts_with(kFile);
  if (!is_file || advice == MADV_REMOVE) std::memset(address, 0, whole_pages(bytes));
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void* mmap(void* address, size_t bytes, int rights, int flags, int fd, off_t offset) noexcept {
  bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  if (bytes > 0 && is_programs_call(__builtin_return_address(0)))
    if (void* at = map_for_program(bytes, rights, flags, fd, offset)) return at;
  if (!anonymous && is_elsewhere(fd)) {
    Elsewhere::get()->refuse("mmap", fd);
    return MAP_FAILED;
  }
  return next<"mmap">(::mmap)(address, bytes, rights, flags, fd, offset);
}

void* mmap64(void* address, size_t bytes, int rights, int flags, int fd, off64_t offset) noexcept {
  if (bytes > 0 && is_programs_call(__builtin_return_address(0)))
    if (void* at = map_for_program(bytes, rights, flags, fd, offset)) return at;
  return mmap(address, bytes, rights, flags, fd, offset);
}

int munmap(void* address, size_t bytes) noexcept {
  if (is_in_program() && has_pages(address)) return unmap_shared(address, bytes);
  if (has_file(address)) return file_maps::unmap(address, bytes);
  return next<"munmap">(::munmap)(address, bytes);
}

int mprotect(void* address, size_t bytes, int rights) noexcept {
  if (is_in_program() && has_pages(address)) return protect_shared(address, bytes, rights);
  if (has_file(address)) return file_maps::protect(address, bytes, rights);
  return next<"mprotect">(::mprotect)(address, bytes, rights);
}

int madvise(void* address, size_t bytes, int advice) noexcept {
  if (is_in_program() && has_pages(address)) return advise_shared(address, bytes, advice);
  return next<"madvise">(::madvise)(address, bytes, advice);
}

void* mremap(void* address, size_t before, size_t bytes, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  void* to = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  if (has_file(address)) return file_maps::move(address, before, bytes, flags);
  if (!is_in_program() || !has_pages(address))
    return next<"mremap">(::mremap)(address, before, bytes, flags, to);
  if (whole_pages(bytes) <= whole_pages(before) && (flags & MREMAP_FIXED) == 0) return address;
  if (flags != MREMAP_MAYMOVE) {
    static std::atomic_flag said;
    errno = refuse(said, flags == 0 ? ENOMEM : EINVAL,
                   "mremap of shared memory: it grows with MREMAP_MAYMOVE alone, and is moved to "
                   "no given address. The call fails");
    return MAP_FAILED;
  }
  if (std::string_view(region_of(address).name).starts_with(kFile)) {
    static std::atomic_flag said;
    errno = refuse(said, ENOMEM,
                   "mremap of a file whose bytes were copied by mmap, since nodes cannot map it "
                   "alike: there are no more bytes of it. The call fails");
    return MAP_FAILED;
  }
  void* moved = map_shared(bytes, PROT_READ | PROT_WRITE, 0, -1, 0);
  if (moved == MAP_FAILED) return moved;
  std::memcpy(moved, address, std::min(before, bytes));
  unmap_shared(address, before);
  return moved;
}

}  // extern "C"
#pragma GCC visibility pop
