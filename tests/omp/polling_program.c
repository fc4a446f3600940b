/* A loop that polls plain memory, which the specification does not allow: the other thread's write
 * may never be seen. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static volatile int ready;

int main(void) {
#pragma omp parallel num_threads(2)
  {
    int seen = ready;
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      while (!ready) sched_yield();
    } else {
      usleep(300000);
      ready = 1 + seen;
    }
  }
  printf("good\n");
  return 0;
}
