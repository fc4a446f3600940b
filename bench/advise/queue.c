// Two threads take 600 tasks of about 0.4 ms, one by one, under a lock. Prints the seconds from the
// begin of main to its end.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { kThreads = 2, kTasks = 600, kTerms = 400000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next;
static double results[kTasks];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void* work(void* unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    int task = next++;
    pthread_mutex_unlock(&lock);
    if (task >= kTasks) return unused;
    double sum = 0;
    for (int k = 1; k < kTerms; ++k) sum += 1.0 / (k + task);
    results[task] = sum;
  }
}

int main(void) {
  double begun = now(), sum = 0;
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int task = 0; task < kTasks; ++task) sum += results[task];
  printf("result=%.6f\nseconds=%.6f\n", sum, now() - begun);
  return 0;
}
