// Calls that are wrong, each in a mode of its own: what tests/shmem/checks_test.cpp runs. PE 1
// makes the call, the others wait.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "program.h"

namespace {

using terrane::shmem_test::Mode;

long word[8];
std::uint64_t flag;
long local_word() { return 1; }

void as_pe_one(void (*wrong)()) {
  shmem_init();
  if (shmem_my_pe() == 1) wrong();
  shmem_finalize();
}

void local_address() {
  long here = local_word();
  shmem_long_p(&here, 1, 0);
}
void no_such_pe() { shmem_long_put(word, &word[4], 1, shmem_n_pes()); }
void negative_pe() { word[0] = shmem_long_atomic_fetch_add(word, 1, -1); }
void no_such_pe_of_context() {
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  shmem_ctx_int64_g(ctx, word, 77);
}
void beyond_the_heap() {
  static char sink;
  shmem_getmem(&sink, word, static_cast<std::size_t>(1) << 50, 0);
}
void uncountable() { shmem_long_put(word, &word[4], SIZE_MAX / 2, 0); }
void invalid_context() { shmem_ctx_long_p(SHMEM_CTX_INVALID, word, 1, 0); }
void backward_stride() { shmem_long_iput(&word[4], word, -1, 1, 2, 0); }
void bad_signal() { shmem_long_put_signal(word, &word[4], 1, &flag, 1, 99, 0); }

shmem_team_t invented(std::uintptr_t handle) { return reinterpret_cast<shmem_team_t>(handle); }
void invented_team() { word[0] = shmem_team_my_pe(invented(0x5eed0)); }
void low_team() { shmem_team_sync(invented(3)); }
void translated_team() {
  word[0] = shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, invented(~std::uintptr_t{0}));
}
void team_context() {
  shmem_ctx_t ctx;
  shmem_team_create_ctx(invented(reinterpret_cast<std::uintptr_t>(word)), 0, &ctx);
}
// Another team has the destroyed one's place.
void destroyed_team() {
  shmem_init();
  shmem_team_t first, second;
  int pes = shmem_n_pes();
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, nullptr, 0, &first);
  shmem_team_destroy(first);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, nullptr, 0, &second);
  if (shmem_my_pe() == 1) shmem_broadcastmem(first, word, &word[4], 8, 0);
  shmem_finalize();
}

void overlap() { shmem_long_put(word, &word[1], 2, 1); }
void null_source() { shmem_long_get(nullptr, word, 1, 0); }
void null_dest() { shmem_long_broadcast(SHMEM_TEAM_WORLD, nullptr, word, 1, 0); }
void null_reduced() { shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, nullptr, 1); }
void unaligned() {
  word[1] = shmem_long_atomic_fetch(reinterpret_cast<long*>(reinterpret_cast<char*>(word) + 1), 0);
}
void destroyed_context() {
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  shmem_ctx_destroy(ctx);
  shmem_ctx_quiet(ctx);
}

void freed_memory() {
  shmem_init();
  auto* block = static_cast<long*>(shmem_malloc(100));
  shmem_free(block);
  if (shmem_my_pe() == 1) shmem_long_p(block, 1, 0);
  shmem_finalize();
}
void beyond_the_block() {
  shmem_init();
  auto* block = static_cast<char*>(shmem_malloc(100));
  char here[300] = {};
  if (shmem_my_pe() == 1) shmem_putmem(block, here, sizeof here, 0);
  shmem_finalize();
}

void other_thread() {
  shmem_init();
  if (shmem_my_pe() == 1) std::thread([] { shmem_long_p(word, 1, 0); }).join();
  shmem_finalize();
}
void private_context() {
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  static shmem_ctx_t ctx;
  shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
  if (shmem_my_pe() == 1) std::thread([] { shmem_ctx_long_p(ctx, word, 1, 0); }).join();
  shmem_finalize();
}

void before_init() { shmem_long_p(word, 1, 0); }
void after_finalize() {
  shmem_init();
  shmem_finalize();
  word[1] = shmem_long_g(word, 0);
}

// PE 1 keeps the others waiting, each in another call, until the test has read what they say.
long lock;
void keep_waiting() {
  shmem_init();
  int me = shmem_my_pe();
  if (me == 1) shmem_set_lock(&lock);
  shmem_barrier_all();
  if (me == 1) {
    const char* heard = std::getenv("HEARD");
    for (int tries = 0; tries < 60'000 && heard && access(heard, F_OK) != 0; ++tries) usleep(1000);
    shmem_long_p(word, 1, 0);
    shmem_clear_lock(&lock);
  }
  if (me == 0) shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
  if (me == 2) shmem_set_lock(&lock);
  if (me == 2) shmem_clear_lock(&lock);
  shmem_barrier_all();
  shmem_finalize();
  std::puts("good");
}

// What all PEs must do in the same way, and PE 1 does otherwise.
int other() { return shmem_my_pe() == 1 ? 1 : 0; }
void initialised(void (*wrong)()) {
  shmem_init();
  wrong();
  shmem_finalize();
}
void malloc_differs() { shmem_malloc(other() ? 200 : 100); }
void calloc_differs() { other() ? shmem_calloc(10, 10) : shmem_malloc(100); }
void align_differs() { shmem_align(other() ? 128 : 64, 100); }
void free_differs() {
  void* blocks[] = {shmem_malloc(64), shmem_malloc(64)};
  shmem_free(blocks[other()]);
}
void free_of_nothing() {
  void* block = shmem_malloc(64);
  shmem_free(other() ? nullptr : block);
}
void realloc_differs() { shmem_realloc(shmem_malloc(64), other() ? 200 : 100); }
void zero_differs() { shmem_malloc(other() ? 0 : 100); }
void type_differs() {
  auto* values = reinterpret_cast<double*>(word);
  other() ? shmem_double_sum_reduce(SHMEM_TEAM_WORLD, values, values + 4, 4)
          : shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, word + 4, 4);
}
void scan_type_differs() {
  auto* values = reinterpret_cast<double*>(word);
  other() ? shmem_double_sum_inscan(SHMEM_TEAM_WORLD, values, values + 4, 4)
          : shmem_long_sum_inscan(SHMEM_TEAM_WORLD, word, word + 4, 4);
}
void sync_for_barrier() { other() ? shmem_sync_all() : shmem_barrier_all(); }
void reduce_overlaps() { shmem_long_max_reduce(SHMEM_TEAM_WORLD, word, word + 1, 4); }
void scan_overlaps() { shmem_long_sum_exscan(SHMEM_TEAM_WORLD, word, word + 1, 4); }
void alltoall_in_place() { shmem_long_alltoall(SHMEM_TEAM_WORLD, word, word, 2); }
void fcollect_overlaps() { shmem_long_fcollect(SHMEM_TEAM_WORLD, word, word + 1, 1); }
void broadcast_overlaps() { shmem_long_broadcast(SHMEM_TEAM_WORLD, word, word + 1, 4, 0); }
void lock_set_twice() {
  shmem_set_lock(word);
  shmem_set_lock(word);
}
void lock_not_set() { shmem_clear_lock(word); }

template <void (*kWrong)()>
constexpr Mode wrong(std::string_view name) {
  return {name, [] { as_pe_one(kWrong); }};
}

template <void (*kWrong)()>
constexpr Mode differs(std::string_view name) {
  return {name, [] { initialised(kWrong); }};
}

constexpr Mode kModes[] = {
    differs<malloc_differs>("malloc"),
    differs<calloc_differs>("calloc"),
    differs<align_differs>("align"),
    differs<free_differs>("free"),
    differs<free_of_nothing>("free-null"),
    differs<realloc_differs>("realloc"),
    differs<zero_differs>("zero"),
    differs<type_differs>("type"),
    differs<scan_type_differs>("scan-type"),
    differs<sync_for_barrier>("sync"),
    differs<reduce_overlaps>("reduce-overlap"),
    differs<scan_overlaps>("scan-overlap"),
    differs<alltoall_in_place>("alltoall-place"),
    differs<fcollect_overlaps>("fcollect-overlap"),
    differs<broadcast_overlaps>("broadcast-overlap"),
    differs<null_dest>("null-dest"),
    differs<null_reduced>("null-reduced"),
    wrong<lock_set_twice>("lock-twice"),
    wrong<lock_not_set>("lock-free"),
    wrong<local_address>("local"),
    wrong<no_such_pe>("pe"),
    wrong<negative_pe>("negative-pe"),
    wrong<no_such_pe_of_context>("context-pe"),
    wrong<beyond_the_heap>("beyond"),
    wrong<uncountable>("uncountable"),
    wrong<invalid_context>("context"),
    wrong<backward_stride>("stride"),
    wrong<bad_signal>("signal"),
    wrong<invented_team>("team"),
    wrong<low_team>("low-team"),
    wrong<translated_team>("team-pe"),
    wrong<team_context>("team-context"),
    {"destroyed-team", destroyed_team},
    wrong<overlap>("overlap"),
    wrong<null_source>("null"),
    wrong<unaligned>("unaligned"),
    wrong<destroyed_context>("destroyed"),
    {"freed", freed_memory},
    {"block", beyond_the_block},
    {"thread", other_thread},
    {"private", private_context},
    {"waiting", keep_waiting},
    {"early", before_init},
    {"late", after_finalize},
};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
