/* An OpenMP program that knows nothing of Terrane, with more data than one node keeps.
 * Usage: lend_program MIB MODE. Prints the host of each thread of a team, then "good" where all
 * results are right, for any number of threads. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostThreads = 64, kHostBytes = 64 };

static char hosts[kMostThreads][kHostBytes];
static int wrong;
static int private_to_thread;
#pragma omp threadprivate(private_to_thread)

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

static void counts(void) {
  int threads = 0;
#pragma omp parallel shared(threads)
  {
#pragma omp single
    threads = omp_get_num_threads();
    gethostname(hosts[omp_get_thread_num()], kHostBytes);
  }
  printf("procs %d\n", omp_get_num_procs());
  for (int i = 0; i < threads; ++i) puts(hosts[i]);
  expect(omp_get_max_threads() == threads, "the team has as many threads as there may be");
}

/* Each element is written by main, by a loop of each schedule, and summed. */
static void sweep(uint64_t* data, long count) {
  for (long i = 0; i < count; ++i) data[i] = (uint64_t)i;
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < count; ++i) sum += data[i]++;
  expect(sum == (uint64_t)count * (count - 1) / 2, "what main wrote");
  sum = 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : sum)
  for (long i = 0; i < count; ++i) sum += data[i] - (uint64_t)i;
  expect(sum == (uint64_t)count, "a loop of dynamic chunks");
#pragma omp parallel for schedule(guided, 4096)
  for (long i = 0; i < count; ++i) data[i] *= 3;
  for (long i = 0; i < count; ++i) wrong |= data[i] != 3 * ((uint64_t)i + 1);
  expect(!wrong, "what main reads");
}

/* Barriers, singles, thread-local variables and tasks, in teams of several sizes. */
static void constructs(void) {
  enum { kRounds = 200 };
  static int seen[kMostThreads];
  int most = omp_get_max_threads();
  private_to_thread = 5;
  for (int size = 1; size <= most + 1 && size < kMostThreads; ++size) {
    int singles = 0, misses = 0, tasks = 0;
#pragma omp parallel num_threads(size) copyin(private_to_thread) reduction(+ : misses)
    {
      int me = omp_get_thread_num(), team = omp_get_num_threads();
      misses += private_to_thread != 5;
      for (int round = 1; round <= kRounds; ++round) {
        seen[me] = round;
#pragma omp barrier
        for (int i = 0; i < team; ++i) misses += seen[i] != round;
#pragma omp single
        ++singles;
      }
#pragma omp single
      for (int i = 0; i < 50; ++i) {
#pragma omp task shared(tasks)
        {
#pragma omp atomic
          ++tasks;
        }
      }
    }
    expect(misses == 0, "what others wrote before a barrier");
    expect(singles == kRounds && tasks == 50, "singles and tasks");
  }
}

static uint64_t* memory_of(const char* mode, size_t bytes) {
  omp_alloctrait_t trait = {omp_atk_partition, omp_atv_default};
  if (strcmp(mode, "malloc") == 0) return malloc(bytes);
  if (strcmp(mode, "blocked") == 0) trait.value = omp_atv_blocked;
  if (strcmp(mode, "interleaved") == 0) trait.value = omp_atv_interleaved;
  return omp_alloc(bytes, omp_init_allocator(omp_default_mem_space, 1, &trait));
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  size_t bytes = strtoul(argv[1], NULL, 10) << 20;
  uint64_t* data = memory_of(argv[2], bytes);
  expect(data != NULL, "memory");
  counts();
  constructs();
  if (data != NULL) sweep(data, (long)(bytes / sizeof *data));
  puts(wrong ? "bad" : "good");
  return wrong;
}
