// Two threads write lines, in the way of `terrane threads` or of threads alone; the time that it
// took on standard error.
//   lines_threads WAY LINES [FILE]
// WAY: one (thread, without a lock), all (both threads, without a lock), lock (each line under one
// mutex), turns (they take turns, by a condition). Without a file the lines go to standard output.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char* way;
static long lines;
static FILE* out;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn;

static void write_line(long i, long me) {
  fprintf(out, "record %ld of thread %ld, as a file of a program has it\n", i, me);
}

static void* work(void* argument) {
  long me = (long)argument;
  int locks = !strcmp(way, "lock"), turns = !strcmp(way, "turns");
  if (!strcmp(way, "one") && me == 1) return NULL;
  for (long i = 0; i < lines; ++i) {
    if (locks || turns) pthread_mutex_lock(&mutex);
    while (turns && turn % 2 != me) pthread_cond_wait(&changed, &mutex);
    write_line(i, me);
    ++turn;
    if (turns) pthread_cond_signal(&changed);
    if (locks || turns) pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  way = argv[1];
  lines = atol(argv[2]);
  out = argc > 3 ? fopen(argv[3], "w") : stdout;
  if (out == NULL) return 1;
  double begin = now();
  pthread_t threads[2];
  for (long t = 0; t < 2; ++t) pthread_create(&threads[t], NULL, work, (void*)t);
  for (int t = 0; t < 2; ++t) pthread_join(threads[t], NULL);
  fflush(out);
  fprintf(stderr, "time %.4f s\n", now() - begin);
  return 0;
}
