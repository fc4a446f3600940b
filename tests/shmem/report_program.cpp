// What a report of OpenSHMEM is to show. Usage: report_program MODE
//   waits    PE 0 makes the others wait for a flag, PE 1 comes late to each barrier
//   short    calls without end, none of which waits long
//   dies     the last PE is killed in the middle
//   threads  two threads of each PE wait
//   again    the PE joins the job a second time
// Prints "good" at each PE that comes to its end.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 10;
long flag, other_flag, lock, counter;
long block[4096];

void compute(double seconds) {
  for (double end = shmemx_wtime() + seconds; shmemx_wtime() < end;) {
  }
}

void waits(int self, int pes) {
  for (long round = 1; round <= kRounds; ++round) {
    if (self == 0) {
      compute(0.01);
      for (int pe = 1; pe < pes; ++pe) shmem_long_p(&flag, round, pe);
    } else {
      shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);  // for the flag
    }
    shmem_set_lock(&lock);
    shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock);
    shmem_putmem(block, block, sizeof block, (self + 1) % pes);
    if (self == 1) compute(0.04);
    shmem_barrier_all();  // for the late one
  }
}

void threads(int self, int pes) {
  auto wait = [](long* word) { shmem_long_wait_until(word, SHMEM_CMP_EQ, 1); };
  if (self != 0) {
    std::vector<std::thread> both;
    for (long* word : {&flag, &other_flag}) both.emplace_back(wait, word);
    for (std::thread& one : both) one.join();
    return;
  }
  compute(0.05);
  for (int pe = 1; pe < pes; ++pe)
    for (long* word : {&flag, &other_flag}) shmem_long_p(word, 1, pe);
}

}  // namespace

int main(int, char** arguments) {
  std::string_view mode = arguments[1];
  int provided = 0;
  shmem_init_thread(mode == "threads" ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
  int self = shmem_my_pe(), pes = shmem_n_pes();
  if (mode == "waits") waits(self, pes);
  if (mode == "threads") threads(self, pes);
  if (mode == "short")
    for (int i = 0; i < 20000; ++i) shmem_barrier_all();
  if (mode == "dies") {
    waits(self, pes);
    if (self == pes - 1) {
      ::usleep(300'000);  // longer than a log keeps to itself
      ::raise(SIGKILL);
    }
    shmem_barrier_all();
  }
  if (mode == "again") {
    waits(self, pes);
    shmem_finalize();
    shmem_init();
    shmem_barrier_all();
  }
  std::puts("good");
  shmem_finalize();
}
