/* A loop that polls plain memory, which the specification does not allow: the other thread's write
 * may never be seen. And one that computes for long, which is right. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int ready;

__attribute__((noinline)) static void wait_for(const char* how) {
  if (strcmp(how, "yield") == 0) {
    while (!ready) sched_yield();
  } else if (strcmp(how, "pause") == 0) {
    while (!ready) __builtin_ia32_pause();
  } else {
    while (!ready) {
    }
  }
}

/* For some seconds, with few calls: sums in registers, in memory and of floating point. */
static void compute(void) {
  static volatile long total;
  double begin = omp_get_wtime(), root = 1;
  unsigned long number = 1;
  while (omp_get_wtime() - begin < 3) {
    for (int i = 0; i < 100000000; i++) number = number * 6364136223846793005 + 1;
    for (int i = 0; i < 30000000; i++) total += 256;
    for (int i = 0; i < 30000000; i++) root = root / 2 + 1 / root;
  }
  if (number == 0 || root < 1) printf("wrong\n");
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "yield";
#pragma omp parallel num_threads(2)
  {
    int seen = ready;
#pragma omp barrier
    if (strcmp(how, "compute") == 0) {
      compute();
    } else if (omp_get_thread_num() == 1) {
      wait_for(how);
    } else {
      usleep(300000);
      ready = 1 + seen;
    }
  }
  printf("good\n");
  return 0;
}
