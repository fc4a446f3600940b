#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A program that ends in one way of many:
//   PROGRAM WAY[:NUMBER] [THREAD]
// THREAD: which of its three threads acts, 1 to 3; without it main does. With --placement 1 they
// are on nodes 1, 2 and 0. The others wait. Where act() returns, so does main, with its result.
enum { kThreads = 3 };

typedef struct Way {
  const char* name;
  int (*act)(int number);
} Way;

static struct {
  const Way* way;
  int number;  // of the way
  int who;     // 0: main
  int result, is_done;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} job = {NULL, 0, 0, 0, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};

// What stands in the output before the end, whatever the end is.
static inline void say(const char* text) {
  printf("%s\n", text);
  fflush(stdout);
}

// The way ends, and with it main.
static inline void tell(int result) {
  pthread_mutex_lock(&job.mutex);
  job.result = result;
  job.is_done = 1;
  pthread_cond_broadcast(&job.changed);
  pthread_mutex_unlock(&job.mutex);
}

static inline void act_and_tell(void) { tell(job.way->act(job.number)); }

static inline void* run_thread(void* argument) {
  if ((int)(long)argument == job.who) act_and_tell();
  pthread_mutex_lock(&job.mutex);
  while (!job.is_done) pthread_cond_wait(&job.changed, &job.mutex);
  pthread_mutex_unlock(&job.mutex);
  return NULL;
}

static inline const Way* find_way(const Way* ways, const char* name) {
  size_t length = strcspn(name, ":");
  for (; ways->name != NULL; ++ways)
    if (strlen(ways->name) == length && !strncmp(ways->name, name, length)) return ways;
  fprintf(stderr, "no way %s\n", name);
  exit(2);
}

static inline int run_way(const Way* ways, int argc, char** argv) {
  if (argc < 2) {
    fputs("no way is asked for\n", stderr);
    return 2;
  }
  const char* number = strchr(argv[1], ':');
  job.way = find_way(ways, argv[1]);
  job.number = number == NULL ? 0 : atoi(number + 1);
  job.who = argc > 2 ? atoi(argv[2]) : 0;
  say(argv[1]);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run_thread, (void*)(i + 1));
  if (strstr(job.way->name, "main_gone") != NULL) pthread_exit(NULL);
  if (job.who == 0) act_and_tell();
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  puts("main returns");
  return job.result;
}
