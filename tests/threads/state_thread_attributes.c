// Names, processors and stacks of threads: what main asks of a thread of any node is so in that
// thread. With the argument "refused", what no thread can have is refused.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { kThreads = 4, kStackBytes = 1 << 20 };

static const char* wrong;
static pthread_barrier_t barrier;
static struct {
  pthread_t thread;
  char* local;     // on its stack
  char name[16];   // as it sees it
  int processors;  // that it may use
} all[kThreads];

static void expect(int holds, const char* what) {
  if (!holds && wrong == NULL) wrong = what;
}

static void* wait_and_look(void* argument) {
  long i = (long)argument;
  char local = 0;
  cpu_set_t own;
  all[i].local = &local;
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);  // meanwhile main changes the thread
  prctl(PR_GET_NAME, all[i].name);
  sched_getaffinity(0, sizeof own, &own);
  all[i].processors = CPU_COUNT(&own);
  return NULL;
}

// One of the processors that the thread may use.
static int one_of(pthread_t thread, cpu_set_t* set) {
  if (pthread_getaffinity_np(thread, sizeof *set, set) != 0) return -1;
  int first = 0;
  while (first < CPU_SETSIZE && !CPU_ISSET(first, set)) ++first;
  CPU_ZERO(set);
  CPU_SET(first, set);
  return 0;
}

static int is_on_stack_of(pthread_t thread, char* local) {
  pthread_attr_t attributes;
  void* base = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(thread, &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &base, &bytes);
  pthread_attr_destroy(&attributes);
  return local >= (char*)base && local < (char*)base + bytes;
}

static void change(long i) {
  char name[16], got[16];
  cpu_set_t set;
  snprintf(name, sizeof name, "worker %ld", i);
  expect(pthread_setname_np(all[i].thread, name) == 0, "pthread_setname_np");
  expect(pthread_getname_np(all[i].thread, got, sizeof got) == 0 && strcmp(got, name) == 0,
         "pthread_getname_np");
  expect(pthread_setname_np(all[i].thread, "a name that is long") == ERANGE, "a long name");
  expect(one_of(all[i].thread, &set) == 0, "pthread_getaffinity_np");
  expect(pthread_setaffinity_np(all[i].thread, sizeof set, &set) == 0, "pthread_setaffinity_np");
  expect(is_on_stack_of(all[i].thread, all[i].local), "pthread_getattr_np");
}

static void of_running_threads(void) {
  pthread_barrier_init(&barrier, NULL, kThreads + 1);
  for (long i = 0; i < kThreads; ++i) pthread_create(&all[i].thread, NULL, wait_and_look, (void*)i);
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < kThreads; ++i) change(i);
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < kThreads; ++i) {
    char name[16];
    pthread_join(all[i].thread, NULL);
    snprintf(name, sizeof name, "worker %ld", i);
    expect(strcmp(all[i].name, name) == 0, "the name that the thread sees");
    expect(all[i].processors == 1, "the processors that the thread sees");
  }
}

static void* where(void* to) {
  char here = 0;
  *(char**)to = &here;
  expect(is_on_stack_of(pthread_self(), &here), "a thread's own stack");
  return NULL;
}

static void on_given_stacks(void) {
  for (int i = 0; i < kThreads; ++i) {
    pthread_attr_t attributes;
    pthread_t thread;
    char* local = NULL;
    char* stack = i % 2 == 0 ? malloc(kStackBytes)
                             : mmap(NULL, kStackBytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pthread_attr_init(&attributes);
    expect(pthread_attr_setstack(&attributes, stack, kStackBytes) == 0, "pthread_attr_setstack");
    expect(pthread_create(&thread, &attributes, where, &local) == 0, "a thread on a given stack");
    pthread_attr_destroy(&attributes);
    pthread_join(thread, NULL);
    expect(local >= stack && local < stack + kStackBytes, "runs on another stack");
    memset(stack, 1, kStackBytes);  // it is the program's again
    if (i % 2 == 0) free(stack);
  }
}

// Its stack holds what the attributes say, also where they say nothing.
static void* fills_stack(void* unused) {
  pthread_attr_t attributes;
  void* base = NULL;
  size_t bytes = 0, usual = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &usual);
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &base, &bytes);
  expect(bytes >= usual, "the stack of a thread with attributes that say no size");
  volatile char large[kStackBytes];
  for (size_t i = kStackBytes; i > 0; --i) large[i - 1] = 1;
  return large[0] == 1 ? unused : NULL;
}

static void on_usual_stacks(void) {
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    pthread_attr_t attributes;
    void* result = NULL;
    pthread_attr_init(&attributes);
    pthread_create(&thread, &attributes, fills_stack, &thread);
    pthread_attr_destroy(&attributes);
    pthread_join(thread, &result);
    expect(result == &thread, "a thread with attributes that say nothing");
  }
}

static void* count_processors(void* unused) {
  cpu_set_t own;
  struct timespec short_while = {0, 1000000};
  do {  // the thread may begin before it has them
    sched_getaffinity(0, sizeof own, &own);
    nanosleep(&short_while, NULL);
  } while (CPU_COUNT(&own) != 1);
  return unused;
}

static void with_processors(void) {
  pthread_t threads[kThreads];
  pthread_attr_t attributes;
  cpu_set_t set;
  expect(one_of(pthread_self(), &set) == 0, "processors of main");
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  for (int i = 0; i < kThreads; ++i)
    expect(pthread_create(&threads[i], &attributes, count_processors, NULL) == 0,
           "pthread_attr_setaffinity_np");
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

static void* reads_clock_of(void* other) {
  clockid_t clock;
  expect(pthread_getcpuclockid(*(pthread_t*)other, &clock) == ENOENT, "the clock of a thread");
  return NULL;
}

static void refused(void) {
  pthread_t own = pthread_self();
  pthread_t thread;
  pthread_attr_t attributes;
  struct sched_param priority = {.sched_priority = 1};
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &priority);
  expect(pthread_create(&thread, &attributes, where, NULL) == ENOTSUP, "a priority");
  expect(pthread_setschedprio(pthread_self(), 1) == ENOTSUP, "pthread_setschedprio");
  expect(pthread_setattr_default_np(&attributes) == ENOTSUP, "pthread_setattr_default_np");
  pthread_create(&thread, NULL, reads_clock_of, &own);
  pthread_join(thread, NULL);
  cpu_set_t none;
  CPU_ZERO(&none);
  expect(pthread_setaffinity_np(pthread_self(), sizeof none, &none) == EINVAL, "no processor");
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "refused") == 0) {
    refused();
  } else {
    of_running_threads();
    on_given_stacks();
    on_usual_stacks();
    with_processors();
  }
  puts(wrong == NULL ? "good" : wrong);
  return wrong != NULL;
}
