// The symmetric heap: what tests/shmem/memory_test.cpp runs.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "program.h"

namespace {

using terrane::shmem_test::Mode;

// The offset from PE 0's block shows in what a peer's pointer holds.
template <typename T>
T* peer(T* ours, int pe) {
  auto* there = static_cast<T*>(shmem_ptr(ours, pe));
  EXPECT(there != nullptr);
  return there;
}

int me() { return shmem_my_pe(); }
int next() { return (me() + 1) % shmem_n_pes(); }

// A barrier made of what is tested here: it does nothing else.
void meet() { shmem_free(shmem_malloc(1)); }

void blocks() {
  shmem_init();
  std::vector<long*> all;
  for (std::size_t count = 1; count < 100'000; count = count * 3 + 1) {
    auto* block = static_cast<long*>(shmem_malloc(count * sizeof(long)));
    EXPECT(block != nullptr && reinterpret_cast<std::uintptr_t>(block) % 16 == 0);
    EXPECT(shmem_ptr(block, me()) == block);
    EXPECT(shmem_addr_accessible(block, next()) == 1);
    for (std::size_t i = 0; i < count; ++i) block[i] = me() * 1000 + static_cast<long>(count + i);
    all.push_back(block);
  }
  meet();
  std::size_t count = 1;
  for (long* block : all) {
    for (std::size_t i = 0; i < count; ++i)
      EXPECT(peer(block, next())[i] == next() * 1000 + static_cast<long>(count + i));
    count = count * 3 + 1;
  }
  for (long* block : all) shmem_free(block);
  shmem_free(nullptr);
  EXPECT(shmem_malloc(0) == nullptr);
  EXPECT(shmem_calloc(0, 8) == nullptr && shmem_calloc(8, 0) == nullptr);
  EXPECT(shmem_align(64, 0) == nullptr && shmem_realloc(nullptr, 0) == nullptr);
  EXPECT(shmem_malloc(64) == all[0]);
  shmem_finalize();
}

void alignments() {
  shmem_init();
  for (std::size_t alignment = 1; alignment <= std::size_t{1} << 24; alignment *= 2) {
    void* block = shmem_align(alignment, 100);
    EXPECT(block != nullptr && reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
  }
  shmem_finalize();
}

void zeroed() {
  shmem_init();
  for (std::size_t bytes : {1000ul, 100'000ul, 5'000'000ul}) {
    auto* dirty = static_cast<char*>(shmem_malloc(bytes));
    std::memset(dirty, 0x5a, bytes);
    shmem_free(dirty);
    auto* clean = static_cast<char*>(shmem_calloc(bytes / 10, 10));
    EXPECT(clean == dirty);
    const char* there = peer(clean, next());
    for (std::size_t i = 0; i < bytes; ++i) EXPECT(there[i] == 0);
    meet();
    shmem_free(clean);
  }
  EXPECT(shmem_calloc(SIZE_MAX / 2, 3) == nullptr);
  shmem_finalize();
}

void resized() {
  shmem_init();
  auto* block = static_cast<int*>(shmem_realloc(nullptr, 100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) block[i] = me() + i;
  EXPECT(shmem_realloc(block, 1000 * sizeof(int)) == block);  // nothing lies behind it
  void* wall = shmem_malloc(64);
  auto* moved = static_cast<int*>(shmem_realloc(block, 1'000'000 * sizeof(int)));
  EXPECT(moved != block);
  for (int i = 0; i < 100; ++i) EXPECT(peer(moved, next())[i] == next() + i);
  meet();
  EXPECT(shmem_realloc(moved, 10 * sizeof(int)) == moved);
  EXPECT(moved[9] == me() + 9);
  EXPECT(shmem_realloc(moved, SIZE_MAX / 4) == nullptr);
  EXPECT(moved[9] == me() + 9);
  EXPECT(shmem_realloc(moved, 0) == nullptr);
  shmem_free(wall);
  shmem_finalize();
}

// More than the machine has, and more than one can count.
void beyond_memory() {
  shmem_init();
  EXPECT(shmem_malloc(SIZE_MAX) == nullptr);
  EXPECT(shmem_malloc(std::size_t{1} << 62) == nullptr);
  std::size_t memory = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * 4096;
  EXPECT(shmem_malloc(memory) == nullptr);
  EXPECT(shmem_malloc(memory / static_cast<std::size_t>(shmem_n_pes())) == nullptr);
  // Memory that is allocated and untouched counts as well.
  std::size_t promised = 0;
  while (shmem_malloc(memory / 64) != nullptr) promised += memory / 64;
  EXPECT(promised > 0 && promised * static_cast<std::size_t>(shmem_n_pes()) < memory);
  EXPECT(shmem_malloc(1000) != nullptr);
  shmem_finalize();
}

// What the machine keeps of our heap.
std::size_t resident_bytes() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone).string().find("terrane-heap") ==
        std::string::npos)
      continue;
    struct stat status {};
    EXPECT(::stat(entry.path().c_str(), &status) == 0);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }
  return 0;
}

void given_back() {
  shmem_init();
  constexpr std::size_t kBytes = 30 << 20;
  for (int round = 0; round < 3; ++round) {
    void* block = shmem_malloc(kBytes);
    std::memset(block, 1, kBytes);
    EXPECT(resident_bytes() >= kBytes);
    shmem_free(block);
    EXPECT(resident_bytes() < kBytes / 2);
  }
  shmem_finalize();
}

void after_finalize() {
  shmem_init();
  void* block = shmem_malloc(1000);
  std::memset(block, 1, 1000);
  shmem_finalize();
  shmem_init();
  auto* again = static_cast<char*>(shmem_calloc(1, 1000));
  EXPECT(again == block && again[999] == 0);
  shmem_finalize();
}

void freed_twice() {
  shmem_init();
  void* block = shmem_malloc(10);
  shmem_free(block);
  shmem_free(block);
}

void freed_inside() {
  shmem_init();
  shmem_free(static_cast<char*>(shmem_malloc(100)) + 16);
}

void freed_local() {
  shmem_init();
  int local = 0;
  shmem_realloc(&local, 100);
}

void bad_alignment() {
  shmem_init();
  EXPECT(shmem_align(24, 100) == nullptr && shmem_align(0, 100) == nullptr);
  shmem_finalize();
}

void bad_pe() {
  shmem_init();
  shmem_ptr(shmem_malloc(8), shmem_n_pes());
}

// As much as SHMEM_SYMMETRIC_SIZE said, at least.
void large() {
  shmem_init();
  auto* block = static_cast<char*>(shmem_malloc(std::size_t{600} << 20));
  EXPECT(block != nullptr);
  block[(std::size_t{600} << 20) - 1] = 1;
  shmem_finalize();
}

constexpr Mode kModes[] = {
    {"blocks", blocks},
    {"alignments", alignments},
    {"zeroed", zeroed},
    {"resized", resized},
    {"beyond", beyond_memory},
    {"given-back", given_back},
    {"after-finalize", after_finalize},
    {"freed-twice", freed_twice},
    {"freed-inside", freed_inside},
    {"freed-local", freed_local},
    {"bad-alignment", bad_alignment},
    {"bad-pe", bad_pe},
    {"large", large},
};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
