#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "patch/accesses.h"
#include "patch/emit.h"
#include "patch/entries.h"
#include "patch/room.h"
#include "platform/page_size.h"

namespace terrane::patch {
namespace {

constexpr std::uint8_t kAccessTrap = 0xcc;
constexpr std::size_t kMostSites = 1 << 20;

// Of all files. Looked up in signal handlers, so they stay where they are.
AccessSite* sites = nullptr;
std::atomic<std::size_t> site_count{0};

// The sites of one file, in the order of their addresses.
struct Part {
  std::size_t first, end;
  const Part* before;
};
std::atomic<const Part*> parts{nullptr};

std::uint8_t* byte_at(std::uintptr_t address) { return reinterpret_cast<std::uint8_t*>(address); }

std::vector<MemoryAccess> accesses_of(const ElfCode& file) {
  std::vector<MemoryAccess> all;
  for (const CodeRange& function : file.functions()) {
    auto some =
        find_accesses(file.bytes(function.begin, function.end - function.begin), function.begin);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

bool is_loaded(const MemoryAccess& one, std::uint64_t bias) {
  const LockedInstruction& code = one.instruction;
  return std::memcmp(byte_at(code.address + bias), code.bytes.data(), code.length) == 0;
}

// Appends the sites of the accesses, with their trampolines in `room`.
base::Result<std::size_t> make_sites(const std::vector<MemoryAccess>& accesses, std::uint64_t bias,
                                     std::uint8_t* room, std::size_t bytes) {
  const std::uintptr_t entry = note_entry();
  std::memcpy(room, &entry, sizeof entry);
  auto pointer = reinterpret_cast<std::uint64_t>(room);
  std::uint8_t *at = room + sizeof entry, *end = room + bytes;
  std::size_t number = site_count.load();
  for (const MemoryAccess& access : accesses) {
    LockedInstruction one = access.instruction;
    one.address += bias;
    auto made = make_access_trampoline(one, reinterpret_cast<std::uint64_t>(at),
                                       static_cast<std::uint32_t>(number), pointer);
    if (!made || made->size() > static_cast<std::size_t>(end - at))
      return base::error("an operand is more than 2 GiB away from its trampoline");
    std::memcpy(at, made->data(), made->size());
    sites[number] = {one.address,
                     reinterpret_cast<std::uintptr_t>(at),
                     one.word_bytes,
                     one.bytes[0],
                     access.is_read,
                     access.is_written,
                     static_cast<std::uint32_t>(number)};
    at += made->size();
    ++number;
  }
  return number;
}

base::Result<> make_writable(std::uintptr_t first, std::uintptr_t last) {
  std::uintptr_t page = platform::page_bytes(), begin = first / page * page;
  std::uintptr_t end = (last / page + 1) * page;
  if (::mprotect(byte_at(begin), end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return base::errno_error("its code cannot be written");
  return {};
}

}  // namespace

base::Result<> watch_accesses(const ElfCode& file, std::uint64_t bias, const std::string& name) {
  auto refuse = [&name](const std::string& why) {
    return base::error("cannot look at what {} reads: {}", name, why);
  };
  if (sites == nullptr) {
    void* room = ::mmap(nullptr, kMostSites * sizeof *sites, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return refuse(std::strerror(errno));
    sites = static_cast<AccessSite*>(room);
  }
  std::vector<MemoryAccess> accesses = accesses_of(file);
  // Locked instructions and padding have been replaced, which is no access of these.
  std::erase_if(accesses, [bias](const MemoryAccess& one) { return !is_loaded(one, bias); });
  if (accesses.empty()) return {};
  std::size_t first = site_count.load();
  if (accesses.size() > kMostSites - first) return refuse("it has too many instructions");
  constexpr std::size_t kMostEach = 112;
  std::size_t bytes = sizeof(std::uintptr_t) + accesses.size() * kMostEach;
  std::uintptr_t begin = accesses.front().instruction.address + bias;
  std::uintptr_t end = accesses.back().instruction.address + bias;
  void* room = map_near(begin, end, bytes);
  if (room == nullptr) return refuse("no address space is left near its code");
  auto made = make_sites(accesses, bias, static_cast<std::uint8_t*>(room), bytes);
  auto done = made ? make_writable(begin, end) : base::Result<>(made.error());
  if (done && ::mprotect(room, bytes, PROT_READ | PROT_EXEC) != 0)
    done = base::errno_error("cannot make code that runs");
  if (!done) {
    ::munmap(room, bytes);
    return refuse(done.error().message);
  }
  parts.store(new Part{first, made.value(), parts.load()});
  site_count.store(made.value());
  for (std::size_t i = first; i < made.value(); ++i) arm(sites[i]);
  return {};
}

std::span<const AccessSite> access_sites() { return {sites, site_count.load()}; }

void disarm(const AccessSite& site) {
  std::atomic_ref<std::uint8_t>(*byte_at(site.at)).store(site.first_byte);
}

void arm(const AccessSite& site) {
  std::atomic_ref<std::uint8_t>(*byte_at(site.at)).store(kAccessTrap);
}

const AccessSite* access_site_at(std::uintptr_t at) {
  for (const Part* part = parts.load(); part != nullptr; part = part->before) {
    const AccessSite *first = sites + part->first, *end = sites + part->end;
    if (at < first->at || at > end[-1].at) continue;
    const AccessSite* found = std::lower_bound(
        first, end, at,
        [](const AccessSite& one, std::uintptr_t address) { return one.at < address; });
    return found != end && found->at == at ? found : nullptr;
  }
  return nullptr;
}

}  // namespace terrane::patch
