/* A library of the program whose constructor and destructor use OpenMP. */
#include <omp.h>
#include <stdio.h>

long early_sum;
int early_runs, early_threads;
omp_lock_t early_lock;

static long sum(long count) {
  long result = 0, locked = 0, tasks = 0, turns = 0, next = 0;
  omp_nest_lock_t nested;
  omp_init_nest_lock(&nested);
#pragma omp parallel for reduction(+ : result) schedule(dynamic) ordered
  for (long i = 0; i < count; ++i) {
    result += i;
#pragma omp ordered
    turns += next++ == i;
  }
#pragma omp parallel shared(locked, tasks)
  {
#pragma omp critical
    {
      omp_set_lock(&early_lock);
      omp_set_nest_lock(&nested);
      ++locked;
      omp_unset_nest_lock(&nested);
      omp_unset_lock(&early_lock);
    }
#pragma omp barrier
#pragma omp single
#pragma omp taskloop shared(tasks)
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      ++tasks;
    }
  }
  early_threads = (int)locked;
  int right = locked == omp_get_max_threads() || locked == 1;
  return right && tasks == 10 && turns == count ? result : -1;
}

__attribute__((constructor)) static void begin(void) {
  omp_init_lock(&early_lock);
  early_sum = sum(100);
  ++early_runs;
}

__attribute__((destructor)) static void end(void) {
  printf("%s\n", sum(100) == 4950 ? "good" : "wrong: at the end");
}
