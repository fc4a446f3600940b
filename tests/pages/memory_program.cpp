// What core files hold and what locking memory does. Usage: memory_program MODE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "denied.h"
#include "program.h"

using namespace terrane::pages_test;

namespace {

constexpr std::size_t kBytes = 16 * kPage;
constexpr std::uint64_t kMiB = 1 << 20;
long* shared = nullptr;

// From /proc/self/smaps: the bytes that a core file would have, and whether it would have the
// address.
struct Core {
  std::uint64_t bytes = 0;
  bool has_address = false;
};
Core core_of(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  Core core;
  std::uint64_t begin = 0, end = 0;
  auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t first = 0, behind = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &behind) == 2) begin = first, end = behind;
    if (line.rfind("VmFlags:", 0) != 0 || line.find(" dd") != std::string::npos) continue;
    core.bytes += end - begin;
    core.has_address = core.has_address || at - begin < end - begin;
  }
  return core;
}

std::uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long kib = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %lu kB", &kib) == 1) return kib << 10;
  }
  bad("no VmRSS", __LINE__);
}

// A counter that both nodes add to, and its page comes and goes.
void count() {
  for (int i = 0; i < 100; ++i) {
    terrane_lock(1);
    at(shared, 0) = at(shared, 0) + 1;
    terrane_unlock(1);
  }
  terrane_barrier();
  EXPECT(at(shared, 0) == 100 * terrane_nodes());
  terrane_barrier();
  EXPECT(terrane_evict(shared, kBytes) == TERRANE_OK);
  EXPECT(at(shared, 0) == 100 * terrane_nodes());
}

void core_holds_what_is_allocated() {
  at(shared, 0) = 1;
  Core core = core_of(shared);
  EXPECT(core.has_address);
  EXPECT(core.bytes < 512 * kMiB);
}

void mlock_fails_and_nothing_else() {
  EXPECT(mlock(shared, kBytes) == -1 && errno == EAGAIN);
  EXPECT(mlock2(shared, kBytes, MLOCK_ONFAULT) == -1 && errno == EAGAIN);
  EXPECT(munlock(shared, kBytes) == 0);
  long own = 0;
  EXPECT(mlock(&own, sizeof own) == 0 || errno == ENOMEM || errno == EPERM);
  count();
}

// Past our function.
void mlock_by_system_call() {
  at(shared, 0) = 0;
  terrane_barrier();
  syscall(SYS_mlock, shared, kBytes);
  count();
}

void mlockall_is_bounded() {
  int result = mlockall(MCL_CURRENT | MCL_FUTURE);
  EXPECT(result == 0 || errno == ENOMEM || errno == EPERM);
  EXPECT(resident_bytes() < 256 * kMiB);
  count();
  EXPECT(resident_bytes() < 256 * kMiB);
  EXPECT(munlockall() == 0);
}

void locked_since_before_init() {
  EXPECT(resident_bytes() < 256 * kMiB);
  count();
}

void process_descriptors_denied() { count(); }

const std::map<std::string, void (*)()> kModes = {
    {"core_holds_what_is_allocated", core_holds_what_is_allocated},
    {"mlock_fails_and_nothing_else", mlock_fails_and_nothing_else},
    {"mlock_by_system_call", mlock_by_system_call},
    {"mlockall_is_bounded", mlockall_is_bounded},
    {"locked_since_before_init", locked_since_before_init},
    {"process_descriptors_denied", process_descriptors_denied},
};

}  // namespace

int main(int argc, char** argv) {
  auto mode = kModes.find(argc > 1 ? argv[1] : "");
  if (mode == kModes.end()) return 4;
  if (mode->second == process_descriptors_denied)
    terrane::cluster_test::deny({{SYS_pidfd_open, EPERM}});
  if (mode->second == locked_since_before_init) syscall(SYS_mlockall, MCL_FUTURE);
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  shared = allocate_all<long>(kBytes / sizeof(long));
  terrane_barrier();
  mode->second();
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
