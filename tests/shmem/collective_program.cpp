#include <complex>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using terrane::shmem_test::Mode;

long pSync[SHMEM_REDUCE_SYNC_SIZE];
long pWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

int me() { return shmem_my_pe(); }
int pes() { return shmem_n_pes(); }

template <typename T>
T* symmetric(std::size_t count) {
  auto* memory = static_cast<T*>(shmem_malloc(count * sizeof(T)));
  EXPECT(memory != nullptr);
  return memory;
}

// Typed and untyped, small and large, through the interface.
void data() {
  shmem_init();
  for (std::size_t count : {1, 100, 70000}) {
    auto all = count * static_cast<std::size_t>(pes());
    auto* source = symmetric<int>(all);
    auto* dest = symmetric<int>(all);
    for (std::size_t i = 0; i < all; ++i) source[i] = me() + static_cast<int>(i % 10);
    shmem_barrier_all();
    int root = pes() - 1;
    EXPECT(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, count, root) == 0);
    EXPECT(dest[0] == root && dest[count - 1] == root + static_cast<int>((count - 1) % 10));
    shmem_barrier_all();
    EXPECT(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT(dest[i] == pes() * (pes() - 1) / 2 + pes() * static_cast<int>(i % 10));
    shmem_barrier_all();
    EXPECT(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, count * sizeof(int)) == 0);
    for (int pe = 0; pe < pes(); ++pe) EXPECT(dest[count * static_cast<std::size_t>(pe)] == pe);
    shmem_barrier_all();
    EXPECT(shmem_int_alltoall(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    auto mine = static_cast<int>(count * static_cast<std::size_t>(me()) % 10);
    for (int pe = 0; pe < pes(); ++pe)
      EXPECT(dest[count * static_cast<std::size_t>(pe)] == pe + mine);
    shmem_barrier_all();
    EXPECT(shmem_sum_inscan(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    EXPECT(dest[0] == me() * (me() + 1) / 2);
    shmem_barrier_all();
    shmem_free(dest);
    shmem_free(source);
  }
  shmem_finalize();
}

// A PE gives no elements, and NULL, in each collective call of a type and of a size.
void collect_nothing() {
  const shmem_team_t world = SHMEM_TEAM_WORLD;
  EXPECT(shmem_broadcastmem(world, nullptr, nullptr, 0, 0) == 0);
  EXPECT(shmem_double_broadcast(world, nullptr, nullptr, 0, pes() - 1) == 0);
  EXPECT(shmem_int_fcollect(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_fcollectmem(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_long_collect(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_collectmem(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_long_alltoall(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_alltoallmem(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_alltoallsmem(world, nullptr, nullptr, 1, 1, 0) == 0);
  EXPECT(shmem_long_alltoalls(world, nullptr, nullptr, 0, 0, 0) == 0);
  EXPECT(shmem_int_sum_reduce(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_uint_and_reduce(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_double_sum_exscan(world, nullptr, nullptr, 0) == 0);
  EXPECT(shmem_double_sum_inscan(world, nullptr, nullptr, 0) == 0);
  shmem_broadcast64(nullptr, nullptr, 0, 0, 0, 0, pes(), pSync);
  shmem_collect32(nullptr, nullptr, 0, 0, 0, pes(), pSync);
  shmem_fcollect64(nullptr, nullptr, 0, 0, 0, pes(), pSync);
  shmem_alltoall32(nullptr, nullptr, 0, 0, 0, pes(), pSync);
  shmem_alltoalls64(nullptr, nullptr, 1, 1, 0, 0, 0, pes(), pSync);
  shmem_long_max_to_all(nullptr, nullptr, 0, 0, 0, pes(), pWrk, pSync);
}

// No elements need no memory, also where other PEs give some, or say where it would be.
void empty() {
  shmem_init();
  collect_nothing();
  symmetric<long>(1);  // so that nothing that is given lies at the offset 0
  auto* source = symmetric<long>(1);
  auto* dest = symmetric<long>(1);
  *dest = 7;
  *source = me();
  shmem_barrier_all();
  const bool last = me() == pes() - 1;
  auto* given = last ? source : nullptr;
  EXPECT(shmem_long_collect(SHMEM_TEAM_WORLD, dest, given, last ? 1 : 0) == 0);
  EXPECT(*dest == pes() - 1);
  EXPECT(shmem_long_fcollect(SHMEM_TEAM_WORLD, given, given, 0) == 0);
  EXPECT(shmem_long_broadcast(SHMEM_TEAM_WORLD, given, given, 0, 0) == 0);
  EXPECT(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, given, given, 0) == 0);
  EXPECT(shmem_long_wait_until_any(nullptr, 0, nullptr, SHMEM_CMP_EQ, 1) == SIZE_MAX);
  EXPECT(shmem_long_test_some(nullptr, 0, nullptr, nullptr, SHMEM_CMP_EQ, 1) == 0);
  shmem_long_wait_until_all(nullptr, 0, nullptr, SHMEM_CMP_EQ, 1);
  shmem_finalize();
}

void kinds() {
  shmem_init();
  auto* z = symmetric<double _Complex>(2);
  auto* s = symmetric<short>(2);
  auto* u = symmetric<unsigned char>(2);
  __real__ z[0] = me() + 1;
  __imag__ z[0] = 1;
  s[0] = static_cast<short>(-me());
  u[0] = static_cast<unsigned char>(1 << me());
  EXPECT(shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, z + 1, z, 1) == 0);
  EXPECT(__real__ z[1] == pes() * (pes() + 1) / 2 && __imag__ z[1] == pes());
  EXPECT(shmem_short_min_reduce(SHMEM_TEAM_WORLD, s + 1, s, 1) == 0 && s[1] == 1 - pes());
  EXPECT(shmem_uchar_or_reduce(SHMEM_TEAM_WORLD, u + 1, u, 1) == 0 && u[1] == (1 << pes()) - 1);
  shmem_finalize();
}

void teams() {
  shmem_init();
  for (int again = 0; again < 300; ++again) {
    shmem_team_t even = SHMEM_TEAM_INVALID, x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
    shmem_team_config_t config{3};
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes() + 1) / 2, &config,
                                    SHMEM_TEAM_NUM_CONTEXTS, &even) == 0);
    EXPECT((even != SHMEM_TEAM_INVALID) == (me() % 2 == 0));
    EXPECT(shmem_team_my_pe(even) == (me() % 2 == 0 ? me() / 2 : -1));
    if (even != SHMEM_TEAM_INVALID) {
      config.num_contexts = 0;
      EXPECT(shmem_team_get_config(even, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0);
      EXPECT(config.num_contexts == 3);
      EXPECT(shmem_team_translate_pe(even, shmem_team_n_pes(even) - 1, SHMEM_TEAM_WORLD) ==
             (pes() - 1) / 2 * 2);
      EXPECT(shmem_team_sync(even) == 0);
    }
    EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1);
    EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, nullptr, 0, &x, nullptr, 0, &y) == 0);
    EXPECT(shmem_team_my_pe(x) == me() % 2 && shmem_team_my_pe(y) == me() / 2);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
    if (again % 2 == 0) shmem_team_destroy(even);  // the others end with the program
  }
  EXPECT(shmem_team_n_pes(SHMEM_TEAM_SHARED) == pes());
  static int word;
  EXPECT(shmem_team_ptr(SHMEM_TEAM_SHARED, &word, me()) != nullptr);
  shmem_team_t none = SHMEM_TEAM_WORLD;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes() + 1, nullptr, 0, &none) != 0);
  EXPECT(none == SHMEM_TEAM_INVALID);
  shmem_finalize();
}

// A program that begins again finds its collectives in order, and what it did not destroy gone.
void again() {
  for (int time = 0; time < 3; ++time) {
    shmem_init();
    auto* words = symmetric<long>(2);
    words[0] = me();
    shmem_team_t team = SHMEM_TEAM_INVALID;
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &team) == 0);
    for (int i = 0; i < 100; ++i) {
      EXPECT(shmem_long_max_reduce(team, words + 1, words, 1) == 0 && words[1] == pes() - 1);
    }
    shmem_sync_all();
    shmem_finalize();
  }
}

void active_sets() {
  shmem_init();
  auto* source = symmetric<long>(4);
  auto* dest = symmetric<long>(64);
  source[0] = me() + 1;
  for (int round = 0; round < 50; ++round) {
    shmem_barrier(0, 0, pes(), pSync);
    dest[0] = -1;
    shmem_sync(0, 0, pes(), pSync);
    shmem_broadcast64(dest, source, 1, 0, 0, 0, pes(), pSync);
    EXPECT(dest[0] == (me() == 0 ? -1 : 1));
    shmem_barrier_all();
    shmem_long_sum_to_all(dest, source, 1, 0, 0, pes(), pWrk, pSync);
    EXPECT(dest[0] == pes() * (pes() + 1) / 2);
    shmem_barrier_all();
    if (me() % 2 == 0) {
      shmem_fcollect64(dest, source, 1, 0, 1, (pes() + 1) / 2, pSync);
      for (int i = 0; i < (pes() + 1) / 2; ++i) EXPECT(dest[i] == 2 * i + 1);
    }
    shmem_barrier_all();
    shmem_collect64(dest, source, static_cast<std::size_t>(me() % 2), 0, 0, pes(), pSync);
    for (int i = 0; i < pes() / 2; ++i) EXPECT(dest[i] == 2 * i + 2);
    shmem_barrier_all();
  }
  shmem_finalize();
}

void waits() {
  shmem_init();
  auto* flags = static_cast<int*>(shmem_calloc(static_cast<std::size_t>(pes()), sizeof(int)));
  auto* signal = static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)));
  for (int round = 1; round <= 100; ++round) {
    for (int pe = 0; pe < pes(); ++pe) shmem_int_atomic_set(flags + me(), round, pe);
    shmem_int_wait_until_all(flags, static_cast<std::size_t>(pes()), nullptr, SHMEM_CMP_GE, round);
    EXPECT(shmem_test_any(flags, static_cast<std::size_t>(pes()), nullptr, SHMEM_CMP_LT, round) ==
           SIZE_MAX);
    shmem_uint64_atomic_add(signal, 1, (me() + 1) % pes());
    EXPECT(shmem_signal_wait_until(signal, SHMEM_CMP_GE, static_cast<uint64_t>(round)) >=
           static_cast<uint64_t>(round));
    shmem_barrier_all();
  }
  shmem_finalize();
}

void locks() {
  shmem_init();
  static long lock;
  auto* heap_lock = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  auto* count = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  for (int round = 0; round < 200; ++round) {
    shmem_set_lock(heap_lock);
    if (round % 2 == 0) shmem_set_lock(&lock);
    long value = shmem_long_g(count, 0);
    shmem_long_p(count, value + 1, 0);
    if (round % 2 == 0) shmem_clear_lock(&lock);
    shmem_clear_lock(heap_lock);
  }
  shmem_barrier_all();
  if (me() == 0) EXPECT(*count == 200L * pes());
  EXPECT(*heap_lock == 0 && lock == 0);
  shmem_finalize();
}

void threads() {
  int level = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
  std::vector<shmem_team_t> teams(4);
  for (shmem_team_t& team : teams) {
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes(), nullptr, 0, &team) == 0);
  }
  auto* words = symmetric<long>(8);
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    workers.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        words[2 * i] = me();
        shmem_team_sync(teams[i]);
        EXPECT(shmem_long_sum_reduce(teams[i], words + 2 * i + 1, words + 2 * i, 1) == 0);
        EXPECT(words[2 * i + 1] == pes() * (pes() - 1) / 2);
      }
    });
  }
  workers.clear();
  shmem_finalize();
}

void bad_root() {
  shmem_init();
  auto* words = symmetric<long>(2);
  shmem_long_broadcast(SHMEM_TEAM_WORLD, words + 1, words, 1, pes());
}

void bad_address() {
  shmem_init();
  auto* words = symmetric<long>(100);
  std::vector<long> local(100);
  shmem_long_alltoall(SHMEM_TEAM_WORLD, words, local.data(), 1);
}

void bad_team() {
  shmem_init();
  shmem_team_sync(SHMEM_TEAM_INVALID);
}

void bad_comparison() {
  shmem_init();
  auto* word = symmetric<int>(1);
  shmem_int_wait_until(word, 17, 1);
}

void bad_set() {
  shmem_init();
  shmem_barrier(1, 1, pes(), pSync);
}

// Calls that do not match, which only checks can tell.
void other_root() {
  shmem_init();
  auto* words = symmetric<long>(2);
  shmem_long_broadcast(SHMEM_TEAM_WORLD, words + 1, words, 1, me());
  shmem_finalize();
}

void other_call() {
  shmem_init();
  auto* words = symmetric<long>(2);
  if (me() == 0) {
    shmem_sync_all();
  } else {
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words + 1, words, 1);
  }
  shmem_finalize();
}

void contexts() {
  shmem_init();
  shmem_team_t reverse = SHMEM_TEAM_INVALID;
  auto* word = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes() - 1, -1, pes(), nullptr, 0, &reverse) ==
         0);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  EXPECT(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  shmem_ctx_fence(ctx);  // no operation is performed
  shmem_ctx_quiet(ctx);
  int everybody = 0;
  shmem_ctx_pe_quiet(ctx, &everybody, 1);
  EXPECT(shmem_team_create_ctx(reverse, 0, &ctx) == 0);
  shmem_ctx_long_p(ctx, word, me() + 100, shmem_team_my_pe(reverse));
  shmem_ctx_quiet(ctx);
  EXPECT(*word == me() + 100);
  shmem_team_destroy(reverse);
  shmem_finalize();
}

constexpr Mode kModes[] = {{"other-root", other_root},
                           {"other-call", other_call},
                           {"contexts", contexts},
                           {"data", data},
                           {"empty", empty},
                           {"kinds", kinds},
                           {"teams", teams},
                           {"again", again},
                           {"active-sets", active_sets},
                           {"waits", waits},
                           {"locks", locks},
                           {"threads", threads},
                           {"bad-root", bad_root},
                           {"bad-address", bad_address},
                           {"bad-team", bad_team},
                           {"bad-comparison", bad_comparison},
                           {"bad-set", bad_set}};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
