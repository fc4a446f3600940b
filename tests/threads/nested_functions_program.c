// Functions inside of functions, whose addresses gcc makes by code on the stack.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4

static long sums[THREADS];
static long (*of_main)(long);

static long apply(long (*function)(long)) {
  long sum = 0;
  for (long i = 1; i <= 100; ++i) sum += function(i);
  return sum;
}

static void* work(void* number) {
  long self = (long)number;
  long times(long x) { return x * self; }
  sums[self] = apply(times) + apply(of_main);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  long one = 1;
  long same(long x) { return x * one; }
  of_main = same;
  for (long t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, work, (void*)t);
  int bad = 0;
  for (long t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], NULL);
    bad += sums[t] != 5050 * (t + 1);
  }
  printf("%s\n", bad ? "bad" : "good");
  return bad;
}
