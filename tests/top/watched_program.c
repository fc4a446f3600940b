// Threads that work until they are killed, so that somebody can look. Usage: watched_program WHAT
// THREADS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 8, kPage = 4096, kFilled = 16 << 20 };

// Each its own page, but for what shares one on purpose.
_Alignas(kPage) long counters[kMost];
_Alignas(kPage) static pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
_Alignas(kPage) long guarded;
_Alignas(kPage) static char filled[kFilled];
_Alignas(kPage) long sums[kMost][kPage / sizeof(long)];
_Alignas(kPage) static pthread_barrier_t barrier;
const char* what;
int threads;

// False sharing: each thread counts in its own word of one page.
static void count(int id) {
  for (int i = 0; i < 1000; ++i) counters[id] += i;
}

// A lock that travels: each thread takes it as often as it can.
static void lock(int id) {
  (void)id;
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&hot_lock);
    ++guarded;
    pthread_mutex_unlock(&hot_lock);
  }
}

// A master fills everything, and the others read it.
static void fill(int id, int round) {
  if (id == 0) memset(filled, 'a' + round % 20, sizeof filled);
  pthread_barrier_wait(&barrier);
  for (size_t i = 0; id != 0 && i < sizeof filled; i += 64) sums[id][0] += filled[i];
}

static void* work(void* raw) {
  int id = (int)(long)raw;
  for (int round = 0;; ++round) {
    pthread_barrier_wait(&barrier);
    if (strcmp(what, "counters") == 0) count(id);
    if (strcmp(what, "lock") == 0) lock(id);
    if (strcmp(what, "master") == 0) fill(id, round);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  what = argv[1];
  threads = atoi(argv[2]);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_t all[kMost];
  puts("running");
  fflush(stdout);
  for (long id = 1; id < threads; ++id) pthread_create(&all[id], NULL, work, (void*)id);
  work(NULL);
}
