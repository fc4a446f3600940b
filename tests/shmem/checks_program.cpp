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

template <void (*kWrong)()>
constexpr Mode wrong(std::string_view name) {
  return {name, [] { as_pe_one(kWrong); }};
}

constexpr Mode kModes[] = {
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
