/* The program of early_library.c: what the constructor has made is that of all nodes. With an
 * argument it has no region of its own. */
#include <omp.h>
#include <stdio.h>

extern long early_sum;
extern int early_runs;
extern omp_lock_t early_lock;

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return 0;
  int seen = 0, threads = 0;
#pragma omp parallel shared(seen, threads)
  {
    omp_set_lock(&early_lock);
    seen += early_sum == 4950 && early_runs == 1;
    ++threads;
    omp_unset_lock(&early_lock);
  }
  if (seen != threads || threads != omp_get_max_threads()) {
    printf("wrong: %ld %d, %d of %d\n", early_sum, early_runs, seen, threads);
    return 1;
  }
  return 0;
}
