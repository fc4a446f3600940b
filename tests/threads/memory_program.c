// A program whose main thread has more data than one node keeps.
// Usage: memory_program vector|grows|static|mapping|read_first|turns|callocs|blocks|where MIB.
// Prints "right" if all bytes are. With blocks it only fills them; with where it prints the host of
// each thread.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kThreads = 3, kMostMib = 48 };
static uint64_t statics[kMostMib << 17];
static uint64_t* data;
static size_t count;
static pthread_barrier_t barrier;
static size_t wrong[kThreads];

static uint64_t value(size_t i, uint64_t round) { return i * 0x9e3779b97f4a7c15u + round; }

static void fill(uint64_t* at, size_t from, size_t end, uint64_t round) {
  for (size_t i = from; i < end; ++i) at[i] = value(i, round);
}
static size_t differ(const uint64_t* at, size_t from, size_t end, uint64_t round) {
  size_t bad = 0;
  for (size_t i = from; i < end; ++i) bad += at[i] != value(i, round);
  return bad;
}

static void* check(void* number) {
  size_t me = (size_t)number;
  wrong[me] = differ(data, 0, count, 0);
  return NULL;
}

// In each round another thread writes all data, and the next one reads them.
static void* turns(void* number) {
  size_t me = (size_t)number;
  for (uint64_t round = 1; round <= 4; ++round) {
    if (round % kThreads == me) fill(data, 0, count, round);
    pthread_barrier_wait(&barrier);
    if ((round + 1) % kThreads == me) wrong[me] += differ(data, 0, count, round);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static char hosts[kThreads][256];

static void* where(void* number) {
  gethostname(hosts[(size_t)number], sizeof *hosts);
  return NULL;
}

static void run(void* (*body)(void*)) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&barrier, NULL, kThreads);
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, body, (void*)i);
  for (size_t i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* way = argv[1];
  count = strtoul(argv[2], NULL, 10) << 17;
  if (strcmp(way, "where") == 0) {
    run(where);
    for (size_t i = 0; i < kThreads; ++i) puts(hosts[i]);
    return 0;
  }
  if (strcmp(way, "blocks") == 0) {
    for (size_t at = 0; at < count; at += 1 << 20) {
      uint64_t* block = malloc(sizeof *block << 20);
      if (block == NULL) return 3;
      fill(block, 0, 1 << 20, 0);
    }
    puts("right");
    return 0;
  }
  data = statics;
  if (strcmp(way, "static") == 0 && count > sizeof statics / sizeof *statics) return 2;
  if (strcmp(way, "vector") == 0 || strcmp(way, "turns") == 0 || strcmp(way, "read_first") == 0)
    data = malloc(count * sizeof *data);
  if (strcmp(way, "callocs") == 0) data = calloc(count, sizeof *data);
  if (strcmp(way, "mapping") == 0)
    data = mmap(NULL, count * sizeof *data, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
  if (data == NULL) return 3;
  if (strcmp(way, "grows") == 0) {
    data = NULL;
    for (size_t had = 0, has = 1 << 12; had < count; had = has, has += has / 2) {
      has = has < count ? has : count;
      data = realloc(data, has * sizeof *data);
      if (data == NULL) return 3;
      fill(data, had, has, 0);
    }
  } else {
    // Pages that are read before they are written have no home until then.
    size_t seen = 0;
    for (size_t i = 0; strcmp(way, "read_first") == 0 && i < count; i += 512) seen += data[i] != 0;
    if (seen != 0) printf("not zero at first: %zu\n", seen);
    fill(data, 0, count, 0);
  }
  wrong[0] = differ(data, 0, count, 0);
  if (wrong[0] != 0) printf("main finds %zu wrong words\n", wrong[0]);
  wrong[0] = 0;
  run(check);
  if (strcmp(way, "turns") == 0) run(turns);
  size_t all = 0;
  for (size_t i = 0; i < kThreads; ++i) all += wrong[i];
  if (all != 0) printf("threads find %zu wrong words\n", all);
  puts(all == 0 ? "right" : "wrong");
  return all != 0;
}
