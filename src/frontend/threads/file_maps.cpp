#include "frontend/threads/file_maps.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/unique_fd.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/node_call.h"
#include "frontend/threads/program.h"
#include "platform/page_size.h"
#include "waiting/processor_share.h"

namespace terrane::frontend::threads::file_maps {
namespace {

// Addresses of the job that nothing else asks for, in steps that suit large pages.
constexpr std::uintptr_t kBase = std::uintptr_t{6} << 44, kEnd = std::uintptr_t{7} << 44;
constexpr std::uintptr_t kStep = std::uintptr_t{2} << 20;
constexpr int kMostTries = 64;

// A file, as its kernel knows it.
struct Identity {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t seconds = 0, nanoseconds = 0;  // of its last change
  std::uint64_t kernel = 0;
};

// A mapping that nodes make, one after the other. Lies in shared memory.
struct Request {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  off_t offset = 0;
  int rights = 0, flags = 0;
  bool is_written = false;  // through the mapping, or by its descriptor
  Identity file;
  pid_t process = 0;
  int fd = -1;
  int error = 0;  // the first node's that cannot
  char path[PATH_MAX] = {};
};

// What is mapped on this node.
class Mappings {
 public:
  void add(std::uintptr_t begin, std::uintptr_t end, bool is_written) {
    std::lock_guard hold(mutex_);
    all_[begin] = {end, is_written};
    count_.store(all_.size(), std::memory_order_release);
  }
  void remove(std::uintptr_t begin, std::uintptr_t end) {
    std::lock_guard hold(mutex_);
    auto at = all_.upper_bound(begin);
    if (at != all_.begin()) --at;
    while (at != all_.end() && at->first < end) {
      auto [first, mapping] = *at;
      at = first < end && mapping.end > begin ? all_.erase(at) : std::next(at);
      if (mapping.end <= begin) continue;
      if (first < begin) all_[first] = {begin, mapping.is_written};
      if (mapping.end > end) all_[end] = mapping;
    }
    count_.store(all_.size(), std::memory_order_release);
  }
  // Whether one holds the address, and whether its file may be written.
  bool find(std::uintptr_t at, bool& is_written) {
    if (count_.load(std::memory_order_acquire) == 0 || at < kBase || at >= kEnd) return false;
    std::lock_guard hold(mutex_);
    auto next = all_.upper_bound(at);
    if (next == all_.begin() || std::prev(next)->second.end <= at) return false;
    is_written = std::prev(next)->second.is_written;
    return true;
  }

 private:
  struct Mapping {
    std::uintptr_t end;
    bool is_written;
  };
  std::mutex mutex_;
  std::map<std::uintptr_t, Mapping> all_;
  std::atomic<std::size_t> count_{0};
};

Mappings& mappings() {
  static auto* one = new Mappings();
  return *one;
}

std::uint64_t kernel() {
  static const std::uint64_t one = waiting::machine_identity();
  return one;
}

// False: it is no regular file.
bool identify(int fd, Identity& file) {
  struct stat found {};
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return false;
  file = {found.st_dev,         found.st_ino,          static_cast<std::uint64_t>(found.st_size),
          found.st_mtim.tv_sec, found.st_mtim.tv_nsec, kernel()};
  return true;
}

// Kernels number devices by themselves; a file that is being written changes meanwhile.
bool is_same(const Identity& one, const Identity& other) {
  if (one.inode != other.inode) return false;
  if (one.kernel != 0 && one.kernel == other.kernel) return one.device == other.device;
  return one.bytes == other.bytes && one.seconds == other.seconds &&
         one.nanoseconds == other.nanoseconds;
}

std::uintptr_t whole(std::uintptr_t bytes, std::uintptr_t step) {
  return (bytes + step - 1) / step * step;
}

// Addresses for so many bytes, perhaps in use already; 0: so many there are not.
std::uintptr_t take_addresses(std::size_t bytes) {
  if (bytes > (kEnd - kBase) / 2) return 0;
  std::uintptr_t taken = whole(bytes, kStep) + kStep;
  Control& control = Program::get()->control();
  Holding hold(&control.file_addresses);
  if (control.file_addresses > kEnd - kBase - taken) control.file_addresses = 0;
  std::uintptr_t at = kBase + control.file_addresses;
  control.file_addresses += taken;
  return at;
}

// The file of the request; none: this node does not see it.
base::UniqueFd open_same(const Request& request) {
  int access = (request.is_written ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  // A file without a name, too.
  std::string by_process =
      "/proc/" + std::to_string(request.process) + "/fd/" + std::to_string(request.fd);
  for (const char* path : {by_process.c_str(), static_cast<const char*>(request.path)}) {
    base::UniqueFd file(next<"open">(::open)(path, access));
    Identity found;
    bool is_it = file && identify(file.get(), found) && is_same(found, request.file);
    if (is_it && (!request.is_written || found.kernel == request.file.kernel)) return file;
  }
  return {};
}

// 0, or what mmap(2) says.
int map_here(const Request& request, int fd, int flags) {
  void* at = reinterpret_cast<void*>(request.address);
  void* got = next<"mmap">(::mmap)(at, request.bytes, request.rights, flags | MAP_FIXED_NOREPLACE,
                                   fd, request.offset);
  if (got == MAP_FAILED) return errno;
  if (got != at) {  // kernels before 4.17 take the address as a wish
    next<"munmap">(::munmap)(got, request.bytes);
    return EEXIST;
  }
  std::size_t page = platform::page_bytes();
  mappings().add(request.address, request.address + whole(request.bytes, page), request.is_written);
  return 0;
}

void unmap_here(std::uintptr_t address, std::size_t bytes) {
  next<"munmap">(::munmap)(reinterpret_cast<void*>(address), bytes);
  mappings().remove(address, address + whole(bytes, platform::page_bytes()));
}

// Runs it on every other node that runs the program's threads.
template <typename Argument>
void on_others(Argument& shared, void* (*function)(void*)) {
  Program& program = *Program::get();
  for (std::uint32_t n = 0; n < program.working(); ++n)
    if (n != program.self()) run_on(n, function, &shared);
}

// A part of mappings, and what is done with it on all nodes. Lies in shared memory.
struct Change {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  int rights = 0;
  std::uintptr_t to = 0;
  std::size_t bytes_there = 0;
  int error = 0;
};

template <typename Shared>
class InSharedMemory {
 public:
  InSharedMemory() {
    void* memory = Program::get()->heap().allocate(sizeof(Shared));
    if (memory != nullptr)
      one_ = new (memory) Shared();
    else
      errno = ENOMEM;
  }
  ~InSharedMemory() {
    if (one_ != nullptr) Program::get()->heap().free(one_);
  }
  InSharedMemory(const InSharedMemory&) = delete;
  Shared* get() const { return one_; }
  Shared* operator->() const { return one_; }
  Shared& operator*() const { return *one_; }

 private:
  Shared* one_ = nullptr;
};

// On this node, then on the others, at the first address that is free on all. The request's error
// says why not.
void map_on_all(Request& request, int fd) {
  for (int tries = 0; tries < kMostTries; ++tries) {
    request.address = take_addresses(request.bytes);
    if (request.address == 0) {
      request.error = ENOMEM;
      return;
    }
    request.error = map_here(request, fd, request.flags);
    if (request.error == EEXIST) continue;
    if (request.error != 0) return;
    on_others(request, [](void* raw) -> void* {
      auto& asked = *static_cast<Request*>(raw);
      Private ours;
      if (asked.error != 0) return nullptr;
      base::UniqueFd file = open_same(asked);
      asked.error =
          file ? map_here(asked, file.get(), asked.flags & ~(MAP_POPULATE | MAP_LOCKED)) : EXDEV;
      return nullptr;
    });
    if (request.error == 0) return;
    int error = request.error;
    unmap(reinterpret_cast<void*>(request.address), request.bytes);
    request.error = error;
    if (error != EEXIST) return;
  }
}

bool can_be_alike(int rights, int flags, bool is_written) {
  constexpr int kPlaced = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN | MAP_HUGETLB;
  bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  bool stays_private = !is_shared && (rights & PROT_WRITE) != 0;
  return (flags & (kPlaced | MAP_ANONYMOUS)) == 0 && rights != PROT_NONE &&
         (rights & PROT_EXEC) == 0 && !stays_private && (is_shared || !is_written);
}

void* map_as_owner(std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  Private ours;
  int access = fcntl(fd, F_GETFL);
  bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  bool is_written = is_shared && access >= 0 && (access & O_ACCMODE) != O_RDONLY;
  Identity file;
  if (access < 0 || !can_be_alike(rights, flags, is_written) || !identify(fd, file)) return nullptr;
  if (!is_written && bytes < kLeastBytes) return nullptr;
  InSharedMemory<Request> request;
  if (request.get() == nullptr) return nullptr;
  request->bytes = bytes;
  request->offset = offset;
  request->rights = rights;
  request->flags = flags;
  request->is_written = is_written;
  request->file = file;
  request->process = getpid();
  request->fd = fd;
  std::string link = "/proc/self/fd/" + std::to_string(fd);
  ssize_t length = readlink(link.c_str(), request->path, sizeof request->path - 1);
  if (length < 0) return nullptr;
  map_on_all(*request, fd);
  if (request->error == 0) return reinterpret_cast<void*>(request->address);
  bool is_refused = request->error == EACCES || request->error == EINVAL ||
                    request->error == EOVERFLOW || request->error == ENODEV;
  errno = request->error;
  return is_refused ? MAP_FAILED : nullptr;
}

// For a thread that the descriptor does not belong to.
struct MapCall {
  std::size_t bytes;
  int rights, flags, fd;
  off_t offset;
  void* result = nullptr;
  int error = 0;
  void run() {
    result = map(bytes, rights, flags, fd, offset);
    error = errno;
  }
};

}  // namespace

void* map(std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  Program& program = *Program::get();
  Elsewhere* elsewhere = Elsewhere::get();
  std::uint32_t owner = elsewhere == nullptr ? Elsewhere::kHere : elsewhere->node_of(fd);
  if (program.working() > 1 && owner == Elsewhere::kHere)
    return map_as_owner(bytes, rights, flags, fd, offset);
  if (owner == Elsewhere::kHere) {
    bool is_written = (rights & PROT_WRITE) != 0;
    if (!can_be_alike(rights, flags, is_written)) return nullptr;
    return next<"mmap">(::mmap)(nullptr, bytes, rights, flags, fd, offset);
  }
  MapCall call{bytes, rights, flags, fd, offset};
  if (!call_on_node(owner, call)) return nullptr;
  errno = call.error;
  return call.result;
}

bool hold(const void* address) {
  bool is_written = false;
  return mappings().find(reinterpret_cast<std::uintptr_t>(address), is_written);
}

int unmap(void* address, std::size_t bytes) {
  Private ours;
  InSharedMemory<Change> change;
  if (change.get() == nullptr || next<"munmap">(::munmap)(address, bytes) != 0) return -1;
  change->address = reinterpret_cast<std::uintptr_t>(address);
  change->bytes = bytes;
  unmap_here(change->address, bytes);
  on_others(*change, [](void* raw) -> void* {
    auto& asked = *static_cast<Change*>(raw);
    Private ours;
    unmap_here(asked.address, asked.bytes);
    return nullptr;
  });
  return 0;
}

int protect(void* address, std::size_t bytes, int rights) {
  static std::atomic_flag said;
  Private ours;
  bool is_written = false;
  mappings().find(reinterpret_cast<std::uintptr_t>(address), is_written);
  if ((rights & PROT_WRITE) != 0 && !is_written) {
    errno = pages::refuse(said, EACCES,
                          "mprotect: a file of {} MiB or more that was mapped without PROT_WRITE "
                          "is each node's own, so what a thread stores would be its node's alone: "
                          "map it with PROT_WRITE. The call fails with EACCES",
                          kLeastBytes >> 20);
    return -1;
  }
  InSharedMemory<Change> change;
  if (change.get() == nullptr || next<"mprotect">(::mprotect)(address, bytes, rights) != 0)
    return -1;
  *change = {
      .address = reinterpret_cast<std::uintptr_t>(address), .bytes = bytes, .rights = rights};
  on_others(*change, [](void* raw) -> void* {
    auto& asked = *static_cast<Change*>(raw);
    Private ours;
    auto* at = reinterpret_cast<void*>(asked.address);
    if (next<"mprotect">(::mprotect)(at, asked.bytes, asked.rights) != 0)
      Program::get()->node().fail("mprotect: this node cannot give a mapped file the same rights");
    return nullptr;
  });
  return 0;
}

namespace {

// Where it moves to is free, or becomes so.
int move_here(const Change& change) {
  constexpr int kHeld = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  auto *from = reinterpret_cast<void*>(change.address), *to = reinterpret_cast<void*>(change.to);
  bool is_written = false;
  mappings().find(change.address, is_written);
  void* got = next<"mmap">(::mmap)(to, change.bytes_there, PROT_NONE, kHeld, -1, 0);
  if (got == MAP_FAILED) return errno;
  got = next<"mremap">(::mremap)(from, change.bytes, change.bytes_there,
                                 MREMAP_MAYMOVE | MREMAP_FIXED, to);
  if (got == MAP_FAILED) {
    int error = errno;
    next<"munmap">(::munmap)(to, change.bytes_there);
    return error;
  }
  std::size_t page = platform::page_bytes();
  mappings().remove(change.address, change.address + whole(change.bytes, page));
  mappings().add(change.to, change.to + whole(change.bytes_there, page), is_written);
  return 0;
}

}  // namespace

void* move(void* address, std::size_t before, std::size_t bytes, int flags) {
  Private ours;
  std::size_t page = platform::page_bytes();
  std::size_t had = whole(before, page), wanted = whole(bytes, page);
  bool is_valid = (flags & ~MREMAP_MAYMOVE) == 0 && wanted != 0;
  if (!is_valid || (wanted > had && flags == 0)) {
    errno = is_valid ? ENOMEM : EINVAL;
    return MAP_FAILED;
  }
  if (wanted <= had) {
    bool cuts = wanted < had;
    if (cuts && unmap(static_cast<std::byte*>(address) + wanted, had - wanted) != 0)
      return MAP_FAILED;
    return address;
  }
  InSharedMemory<Change> change;
  if (change.get() == nullptr) return MAP_FAILED;
  *change = {.address = reinterpret_cast<std::uintptr_t>(address),
             .bytes = before,
             .to = take_addresses(bytes),
             .bytes_there = bytes};
  change->error = change->to == 0 ? ENOMEM : move_here(*change);
  if (change->error != 0) {
    errno = change->error == EEXIST ? ENOMEM : change->error;
    return MAP_FAILED;
  }
  on_others(*change, [](void* raw) -> void* {
    auto& asked = *static_cast<Change*>(raw);
    Private ours;
    int error = move_here(asked);
    if (error != 0) asked.error = error;
    return nullptr;
  });
  if (change->error != 0)
    Program::get()->node().fail("mremap: a node cannot map the file where it is on the others");
  return reinterpret_cast<void*>(change->to);
}

}  // namespace terrane::frontend::threads::file_maps
