// Threads that share pages in one way or another. Usage: shared_program WHAT THREADS
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 4, kRounds = 4000, kTurns = 2000, kPage = 4096, kFilled = 128 << 20 };

// Each its own page, but for what shares one on purpose.
_Alignas(kPage) long counters[kMost];
__attribute__((section("pair"), aligned(16))) long left_sum = 1;
__attribute__((section("pair"), aligned(16))) long right_sum = 1;
_Alignas(kPage) long turns;
_Alignas(kPage) long guarded;
_Alignas(kPage) long news[8];
_Alignas(kPage) double grid[2 * kMost][kPage / sizeof(double)];
_Alignas(kPage) static pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t barrier;
unsigned char* filled;
long sums[kMost][kPage / sizeof(long)];
const char* what;
int threads;

static int is(const char* name) { return strcmp(what, name) == 0; }

static void share(int id, int round) {
  if (is("counters")) {
    for (int i = 0; i < 50; ++i) counters[id] += i;
  } else if (is("variables")) {
    if (id == 0) left_sum += round;
    if (id == 1) right_sum += round;
  } else if (is("travels")) {
    if (round % threads == id) ++turns;
  } else if (is("news")) {
    if (id == 0) news[0] = round;
    if (id != 0 && news[0] < 0) abort();
  } else if (is("clean")) {
    for (int i = 0; i < kPage / (int)sizeof(double); ++i) grid[2 * id][i] += 1 + i;
  }
  if (is("news") || is("travels") || is("counters") || is("variables") || is("clean"))
    pthread_barrier_wait(&barrier);
}

static void* work(void* raw) {
  int id = (int)(long)raw;
  for (int round = 0; is("dies"); ++round) {
    ++counters[id];
    pthread_barrier_wait(&barrier);
    if (round == 3 * kRounds && id == threads - 1) raise(SIGKILL);
  }
  if (is("lock")) {
    pthread_barrier_wait(&barrier);
    for (int taken = 0; taken < kTurns;) {
      pthread_mutex_lock(&hot_lock);
      if (guarded % threads == id) {
        ++guarded;
        ++taken;
      }
      pthread_mutex_unlock(&hot_lock);
    }
    return NULL;
  }
  if (is("master")) {
    for (size_t i = 0; i < kFilled / (size_t)threads; i += 64)
      sums[id][0] += filled[kFilled / (size_t)threads * (size_t)id + i];
    return NULL;
  }
  for (int round = 0; round < kRounds; ++round) share(id, round);
  return NULL;
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "clean";
  threads = argc > 2 ? atoi(argv[2]) : 2;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  if (is("master")) {
    filled = malloc(kFilled);
    memset(filled, 1, kFilled);
  }
  pthread_t all[kMost];
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  if (is("counters") && counters[threads - 1] != kRounds * 1225L) return 1;
  if (is("travels") && turns != kRounds) return 1;
  if (is("lock") && guarded != (long)kTurns * threads) return 1;
  puts("good");
  return 0;
}
