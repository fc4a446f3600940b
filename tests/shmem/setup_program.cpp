// Joining, leaving, asking and ending: what tests/shmem/setup_test.cpp runs.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using terrane::shmem_test::Mode;

void join_and_leave() {
  int initialized = -1;
  shmem_query_initialized(&initialized);
  EXPECT(initialized == 0);
  shmem_init();
  shmem_query_initialized(&initialized);
  EXPECT(initialized == 1);
  EXPECT(shmem_n_pes() >= 1);
  EXPECT(shmem_my_pe() >= 0 && shmem_my_pe() < shmem_n_pes());
  for (int pe = 0; pe < shmem_n_pes(); ++pe) EXPECT(shmem_pe_accessible(pe) == 1);
  EXPECT(shmem_pe_accessible(shmem_n_pes()) == 0);
  EXPECT(shmem_pe_accessible(-1) == 0);
  int local = 0;
  EXPECT(shmem_addr_accessible(&local, 0) == 0);
  EXPECT(shmem_ptr(&local, 0) == nullptr);
  int major = 0, minor = 0;
  char name[256];
  shmem_info_get_version(&major, &minor);
  shmem_info_get_name(name);
  EXPECT(major == 1 && minor == 6 && std::strncmp(name, "Terrane", 7) == 0);
  shmem_pcontrol(1);
  shmem_finalize();
  shmem_query_initialized(&initialized);
  EXPECT(initialized == 0);
}

void threads() {
  int provided = -1;
  EXPECT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
  EXPECT(provided == SHMEM_THREAD_MULTIPLE);
  provided = -1;
  shmem_query_thread(&provided);
  EXPECT(provided == SHMEM_THREAD_MULTIPLE);
  shmem_finalize();
}

void bad_thread_level() {
  int provided = -1;
  shmem_init_thread(17, &provided);
}

void again_and_again() {
  for (int round = 0; round < 20; ++round) {
    shmem_init();
    shmem_init();
    int me = shmem_my_pe();
    shmem_finalize();
    EXPECT(shmem_my_pe() == me);
    shmem_finalize();
  }
}

void started_the_old_way() {
  start_pes(0);
  start_pes(0);
  EXPECT(shmem_n_pes() >= 1);
}

void early() { shmem_my_pe(); }

void late() {
  shmem_init();
  shmem_finalize();
  shmem_n_pes();
}

void not_finalized() { shmem_init(); }

void one_exits_with_3() {
  shmem_init();
  if (shmem_my_pe() == 1) std::exit(3);
  shmem_barrier_all();
}

// Threads of one PE and of others use one lock.
void lock_by_threads() {
  static long lock, count;
  constexpr int kThreads = 4, kTurns = 500;
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (int turn = 0; turn < kTurns; ++turn) {
        if (turn % 8 == 0) {
          while (shmem_test_lock(&lock) != 0) std::this_thread::yield();
        } else {
          shmem_set_lock(&lock);
        }
        shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&lock);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  shmem_barrier_all();
  if (shmem_my_pe() == 0) EXPECT(count == long{kThreads} * kTurns * shmem_n_pes());
  shmem_finalize();
}

void one_does_not_return() {
  shmem_init();
  bool first = shmem_my_pe() == 0;
  shmem_finalize();
  if (!first) std::_Exit(0);
  shmem_init();
}

// PE 0 still ends when the others' connections close: it opens after all libraries of the network
// one that ends after them.
void one_ends_late() {
  shmem_init();
  if (shmem_my_pe() == 0) EXPECT(::dlopen(LINGERING_LIBRARY, RTLD_NOW) != nullptr);
  shmem_finalize();
}

void one_exits_early() {
  shmem_init();
  if (shmem_my_pe() == 1) std::_Exit(0);
  shmem_finalize();
}

void one_is_killed() {
  shmem_init();
  if (shmem_my_pe() == 1) std::raise(SIGKILL);
  shmem_finalize();
}

// While all others put to all.
void one_ends_amid_puts() {
  static long words[64];
  shmem_init();
  shmem_barrier_all();
  for (long round = 0;; round++) {
    if (shmem_my_pe() == shmem_n_pes() - 1 && round == 200) std::_Exit(9);
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
      shmem_long_put_nbi(words, &round, 1, pe);
      shmem_long_atomic_inc(words + 1, pe);
    }
    shmem_quiet();
  }
}

// The others wait, compute, or have not come so far.
void global_exit(int status) {
  shmem_init();
  std::printf("written");
  if (shmem_my_pe() == shmem_n_pes() - 1) shmem_global_exit(status);
  if (shmem_my_pe() == 0) shmem_finalize();
  for (;;) ::pause();
}

constexpr Mode kModes[] = {
    {"join", join_and_leave},
    {"threads", threads},
    {"bad-thread-level", bad_thread_level},
    {"again", again_and_again},
    {"start-pes", started_the_old_way},
    {"early", early},
    {"late", late},
    {"not-finalized", not_finalized},
    {"exits-with-3", one_exits_with_3},
    {"lock-threads", lock_by_threads},
    {"no-return", one_does_not_return},
    {"ends-late", one_ends_late},
    {"exits-early", one_exits_early},
    {"killed", one_is_killed},
    {"ends-amid-puts", one_ends_amid_puts},
    {"exit-0", [] { global_exit(0); }},
    {"exit-37", [] { global_exit(37); }},
};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
