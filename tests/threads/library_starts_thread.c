// A library whose constructors start threads, use what they need, and open another library.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 5

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t left;
static long sum;
static long (*add_to_total)(long);
static const char* name;
static int order[2], constructors;

static void* work(void* number) {
  pthread_mutex_lock(&mutex);
  sum += (long)number;
  pthread_mutex_unlock(&mutex);
  return &sum;
}

__attribute__((constructor(101))) static void first(void) { order[constructors++] = 1; }

__attribute__((constructor(102))) static void begin(int argc, char** argv, char** variables) {
  pthread_t threads[THREADS];
  order[constructors++] = 2;
  printf("constructed\n");
  name = argc > 1 && variables != NULL ? argv[1] : "";
  for (long t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, work, (void*)t);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  pthread_create(&left, NULL, work, (void*)100L);
  void* other = dlopen(OTHER_LIBRARY, RTLD_NOW);
  if (other != NULL) *(void**)&add_to_total = dlsym(other, "add_to_total");
}

void* opened_thread(void* argument) {
  static int joined;
  (void)argument;
  if (!joined) pthread_join(left, NULL);
  joined = 1;
  int is_right = sum == 0 + 1 + 2 + 3 + 4 + 100 && order[0] == 1 && order[1] == 2;
  is_right = is_right && add_to_total != NULL && add_to_total(1) > 1000;
  return is_right && strncmp(name, "constructed", 11) == 0 ? &sum : NULL;
}
