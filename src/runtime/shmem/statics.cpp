#include "runtime/shmem/statics.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "platform/mapping.h"
#include "platform/module_owners.h"
#include "platform/shared_pages.h"

namespace terrane::runtime::shmem {
namespace {

// Room for libraries that are opened later; only address space.
constexpr std::uint64_t kLaterBytes = std::uint64_t{1} << 30;

void mix(std::uint64_t& hash, std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u; }

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::uint64_t bytes_of(const platform::Module& module) {
  std::uint64_t bytes = 0;
  for (const auto& pages : module.writable) bytes += pages.end - pages.begin;
  return bytes;
}

}  // namespace

Statics& Statics::of_process() {
  static auto* one = new Statics();  // never destroyed: static data outlive every destructor
  return *one;
}

void Statics::take_at_start() {
  auto started = start();
  if (!started) error_ = started.error().message;
}

void Statics::note_opening(const char* file, const void* caller) {
  opened_.store(true, std::memory_order_relaxed);
  Dl_info from{};
  if (file == nullptr || ::dladdr(caller, &from) == 0 || from.dli_fname == nullptr) return;
  if (!file_name(from.dli_fname).starts_with("libterrane")) return;
  std::lock_guard hold(opening_);
  opened_by_us_.emplace_back(file_name(file));
}

std::vector<platform::Module> Statics::programs_modules() {
  std::vector<platform::Module> all = platform::loaded_modules(), programs;
  std::lock_guard hold(opening_);
  auto owners = platform::owners_of(all, [this](const platform::Module& module) {
    return std::any_of(opened_by_us_.begin(), opened_by_us_.end(), [&](const std::string& name) {
      return name == module.name || name == module.soname;
    });
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (owners[i] == platform::ModuleOwner::kProgram) programs.push_back(std::move(all[i]));
  return programs;
}

base::Result<> Statics::start() {
  modules_seen_ = platform::modules_ever_loaded();
  std::vector<platform::Module> modules = programs_modules();
  for (const auto& module : modules) start_bytes_ += bytes_of(module);
  bytes_ = start_bytes_ + std::min(kLaterBytes, platform::comfortable_mapping_bytes());
  auto fd = platform::create_memfd(bytes_, "terrane-statics");
  if (!fd) return fd.error();
  fd_.reset(fd.value());
  if (!modules.empty()) program_identity_ = modules[0].identity;
  std::uint64_t offset = 0;
  for (const auto& module : modules) {
    mix(start_identity_, module.identity);
    for (const auto& pages : module.writable) {
      if (auto taken = take(pages, offset); !taken) return taken;
      // The largest one: some linkers separate one page.
      bool is_program = module.name.empty() && pages.end - pages.begin > program_.bytes;
      if (is_program) program_ = taken_.back().segment;
      offset += pages.end - pages.begin;
    }
  }
  return {};
}

base::Result<> Statics::take(const platform::WritablePages& pages, std::uint64_t offset) {
  auto shared = platform::share_pages(pages, fd_.get(), offset);
  if (!shared) return shared;
  Segment segment{pages.begin, pages.end - pages.begin, offset};
  taken_.push_back({segment, pages.protection});
  directory_.add(segment);
  return {};
}

base::Result<> Statics::take_new(Places& places) {
  std::lock_guard hold(mutex_);
  std::uint64_t loaded = platform::modules_ever_loaded();
  if (loaded == modules_seen_) return {};
  modules_seen_ = loaded;
  for (const auto& module : programs_modules()) {
    if (module.writable.empty() || directory_.locate(module.writable[0].begin, 1)) continue;
    std::uint64_t identity = module.identity;
    for (char letter : module.name) mix(identity, static_cast<unsigned char>(letter));
    auto offset = places.place(identity, bytes_of(module));
    if (!offset || *offset + bytes_of(module) > bytes_)
      return base::error("no room for the static data of {}, opened at run time: {} bytes",
                         module.name, bytes_of(module));
    for (const auto& pages : module.writable) {
      if (auto taken = take(pages, *offset); !taken) return taken;
      *offset += pages.end - pages.begin;
    }
  }
  return {};
}

// Copies only what the file has; the rest of a copy reads as zeros, as the data do. Reads from the
// file, by a call that no sanitizer intercepts: sanitizers forbid reading the gaps between
// variables.
bool Statics::copy_present(const Taken& one) const {
  auto begin = static_cast<off_t>(one.segment.offset);
  auto end = begin + static_cast<off_t>(one.segment.bytes);
  for (off_t at = begin; at < end;) {
    off_t data = ::lseek(fd_.get(), at, SEEK_DATA);
    if (data < 0 || data >= end) break;
    off_t hole = std::min(end, ::lseek(fd_.get(), data, SEEK_HOLE));
    for (at = data; at < hole;) {
      long got = ::syscall(SYS_pread64, fd_.get(), one.copy + (at - begin), hole - at, at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
    }
  }
  return true;
}

void Statics::before_fork() {
  mutex_.lock();
  for (Taken& one : taken_) {
    void* copy = ::mmap(nullptr, one.segment.bytes, one.protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    one.copy = copy == MAP_FAILED ? nullptr : static_cast<std::byte*>(copy);
    if (one.copy == nullptr || copy_present(one)) continue;
    ::munmap(one.copy, one.segment.bytes);
    one.copy = nullptr;
  }
}

void Statics::after_fork_in_parent() {
  for (Taken& one : taken_) {
    if (one.copy != nullptr) ::munmap(one.copy, one.segment.bytes);
    one.copy = nullptr;
  }
  mutex_.unlock();
}

// Moves the copies over the data. Data without a copy are unmapped, because the child must not
// write into its parent's data.
void Statics::after_fork_in_child() {
  for (Taken& one : taken_) {
    auto* place = reinterpret_cast<void*>(one.segment.address);
    if (one.copy != nullptr) {
      ::mremap(one.copy, one.segment.bytes, one.segment.bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               place);
    } else {
      ::munmap(place, one.segment.bytes);
    }
    one.copy = nullptr;
  }
  mutex_.unlock();
}

}  // namespace terrane::runtime::shmem
