#include "patch/kept_plans.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>

#include "base/unique_fd.h"

namespace terrane::patch {
namespace {

constexpr std::array<char, 8> kMagic{'T', 'E', 'R', 'R', 'P', 'L', 'A', 'N'};
constexpr int kTries = 4000;
constexpr useconds_t kBetweenTriesUs = 5000;

static_assert(std::is_trivially_copyable_v<Site>, "a site is kept as it is in memory");

// What a plan depends on, and what says that it is whole.
struct Head {
  std::array<char, 8> magic = kMagic;
  std::uint64_t device = 0, inode = 0, size = 0, changed_ns[2] = {};
  std::uint64_t without_jumps = 0, fences = 0;
  std::array<std::uint8_t, 24> build{};  // of Terrane: its length, then the linker's build id
  std::uint64_t sites = 0;
  std::uint64_t sum = 0;  // of all else

  bool is_of(const Head& other) const {
    Head one = *this, two = other;
    one.sites = two.sites = one.sum = two.sum = 0;
    return std::memcmp(&one, &two, sizeof one) == 0;
  }
};
static_assert(std::has_unique_object_representations_v<Head>);

// FNV-1a.
std::uint64_t mix(std::uint64_t hash, std::span<const std::byte> bytes) {
  for (std::byte one : bytes) hash = (hash ^ static_cast<std::uint64_t>(one)) * 0x100000001b3u;
  return hash;
}
constexpr std::uint64_t kHashOfNothing = 0xcbf29ce484222325u;

std::uint64_t sum_of(Head head, std::span<const Site> sites) {
  head.sum = 0;
  std::uint64_t hash = mix(kHashOfNothing, std::as_bytes(std::span(&head, 1)));
  return mix(hash, std::as_bytes(sites));
}

// Of the module that holds `within`: the linker's build id; all zeros: it has none.
struct Build {
  std::uintptr_t within;
  std::array<std::uint8_t, 24> id{};
};

void read_notes(const std::uint8_t* at, std::size_t size, Build& build) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    std::size_t name = (note.n_namesz + 3) / 4 * 4, text = (note.n_descsz + 3) / 4 * 4;
    if (name + text > size - sizeof note) return;
    const std::uint8_t* words = at + sizeof note;
    bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                 std::memcmp(words, "GNU", 4) == 0 && note.n_descsz < build.id.size();
    if (is_id) {
      build.id[0] = static_cast<std::uint8_t>(note.n_descsz);
      std::memcpy(&build.id[1], words + name, note.n_descsz);
    }
    at += sizeof note + name + text;
    size -= sizeof note + name + text;
  }
}

int look_for_build(dl_phdr_info* info, std::size_t, void* data) {
  auto& build = *static_cast<Build*>(data);
  std::span headers(info->dlpi_phdr, info->dlpi_phnum);
  bool holds = std::any_of(headers.begin(), headers.end(), [&](const ElfW(Phdr) & one) {
    return one.p_type == PT_LOAD && build.within - info->dlpi_addr - one.p_vaddr < one.p_memsz;
  });
  if (!holds) return 0;
  for (const ElfW(Phdr) & one : headers)
    if (one.p_type == PT_NOTE)
      read_notes(reinterpret_cast<const std::uint8_t*>(info->dlpi_addr + one.p_vaddr), one.p_memsz,
                 build);
  return 1;
}

const std::array<std::uint8_t, 24>& own_build() {
  static const Build build = [] {
    Build one{reinterpret_cast<std::uintptr_t>(&look_for_build)};
    ::dl_iterate_phdr(look_for_build, &one);
    return one;
  }();
  return build.id;
}

std::uint64_t ns_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// nullopt: no plan of this file is kept.
std::optional<Head> head_of(const KeptPlans::Wanted& wanted) {
  struct stat state {};
  if (own_build()[0] == 0 || ::stat(wanted.path.c_str(), &state) != 0) return std::nullopt;
  Head head;
  head.device = state.st_dev;
  head.inode = state.st_ino;
  head.size = static_cast<std::uint64_t>(state.st_size);
  head.changed_ns[0] = ns_of(state.st_mtim);
  head.changed_ns[1] = ns_of(state.st_ctim);
  head.without_jumps = wanted.without_jumps ? 1 : 0;
  head.fences = static_cast<std::uint64_t>(wanted.fences);
  head.build = own_build();
  if (head.size < KeptPlans::kSmallestFile) return std::nullopt;
  return head;
}

bool is_within(const KeptPlans::Wanted& wanted, std::uint64_t at, std::uint64_t bytes) {
  return std::any_of(wanted.code.begin(), wanted.code.end(), [&](const CodeRange& range) {
    return at >= range.begin && at < range.end && bytes <= range.end - at;
  });
}

// Whether the instructions are there.
bool fits(const Plan& plan, const KeptPlans::Wanted& wanted) {
  return std::all_of(plan.sites.begin(), plan.sites.end(), [&](const Site& site) {
    const LockedInstruction& one = site.instruction;
    std::uint64_t at = one.address + wanted.bias;
    bool hops = site.way != Way::kHop || is_within(wanted, site.hop + wanted.bias, kJumpBytes);
    return hops && one.length <= one.bytes.size() && is_within(wanted, at, one.length) &&
           std::memcmp(reinterpret_cast<const void*>(at), one.bytes.data(), one.length) == 0;
  });
}

bool read_all(int file, std::uint64_t from, std::span<std::byte> to) {
  while (!to.empty()) {
    ssize_t got = ::pread(file, to.data(), to.size(), static_cast<off_t>(from));
    if (got <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(got));
    from += static_cast<std::uint64_t>(got);
  }
  return true;
}

bool write_all(int file, std::uint64_t from, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(from));
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    from += static_cast<std::uint64_t>(put);
  }
  return true;
}

std::optional<Plan> read(int file, const Head& wanted) {
  struct stat state {};
  bool is_ours = ::fstat(file, &state) == 0 && S_ISREG(state.st_mode) &&
                 state.st_uid == ::geteuid() && (state.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  Head head;
  if (!is_ours || !read_all(file, 0, std::as_writable_bytes(std::span(&head, 1))))
    return std::nullopt;
  auto bytes = static_cast<std::uint64_t>(state.st_size) - sizeof head;
  if (!head.is_of(wanted) || bytes % sizeof(Site) != 0 || bytes / sizeof(Site) != head.sites)
    return std::nullopt;
  Plan plan;
  plan.sites.resize(head.sites);
  std::span<Site> sites(plan.sites);
  if (!read_all(file, sizeof head, std::as_writable_bytes(sites))) return std::nullopt;
  if (head.sum != sum_of(head, sites)) return std::nullopt;
  return plan;
}

void write(int file, Head head, const Plan& plan) {
  head.sites = plan.sites.size();
  head.sum = sum_of(head, plan.sites);
  if (::ftruncate(file, 0) != 0) return;
  bool is_whole = write_all(file, sizeof head, std::as_bytes(std::span(plan.sites))) &&
                  write_all(file, 0, std::as_bytes(std::span(&head, 1)));
  if (!is_whole && ::ftruncate(file, 0) != 0) return;  // it has no sum then: it is as if not there
}

// Waits a while for who makes the plan now.
bool lock(int file) {
  for (int tries = 0; tries < kTries; ++tries) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    ::usleep(kBetweenTriesUs);
  }
  return false;
}

void make_folders(const std::string& path) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    ::mkdir(path.substr(0, at).c_str(), S_IRWXU);
  }
}

// Hosts that share the folder, and files that were replaced, have names of their own, as a rule: so
// many names are all.
std::string name_of(const Head& head) {
  constexpr std::uint64_t kNames = 4096;
  std::uint64_t hash = mix(kHashOfNothing, std::as_bytes(std::span(&head, 1)));
  return fmt::format("plan_{:03x}", (hash ^ hash >> 32) % kNames);
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

base::Result<Plan> KeptPlans::plan(const Wanted& wanted, const Make& make) const {
  std::optional<Head> head = folder_.empty() ? std::nullopt : head_of(wanted);
  if (!head) return make();
  std::string path = folder_ + "/" + name_of(*head);
  constexpr int kMode = S_IRUSR | S_IWUSR, kFlags = O_CLOEXEC | O_NOFOLLOW;
  base::UniqueFd file(::open(path.c_str(), O_RDWR | kFlags));
  if (!file && errno == ENOENT) {
    make_folders(folder_);
    file.reset(::open(path.c_str(), O_RDWR | O_CREAT | kFlags, kMode));
  }
  if (!file) file.reset(::open(path.c_str(), O_RDONLY | kFlags));
  if (!file) return make();
  std::optional<Plan> kept = read(file.get(), *head);
  bool is_alone = !kept && lock(file.get());
  if (is_alone) kept = read(file.get(), *head);
  if (kept && fits(*kept, wanted)) return *std::move(kept);
  base::Result<Plan> made = make();
  if (made.ok() && is_alone && made.value().doubts.empty()) write(file.get(), *head, made.value());
  return made;
}

std::string folder_of_plans() {
  if (std::getenv("TERRANE_CACHE") != nullptr) return setting("TERRANE_CACHE");
  std::string caches = setting("XDG_CACHE_HOME");
  if (caches.empty() && !setting("HOME").empty()) caches = setting("HOME") + "/.cache";
  return caches.empty() || caches[0] != '/' ? "" : caches + "/terrane";
}

}  // namespace terrane::patch
