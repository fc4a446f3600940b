// The library of the transport opens a file of its own each time that it looks for messages, also
// while a thread of the program waits. The program has closed streams to which a thread of another
// node has written, so the library's stream may lie where one of them lay.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { kRounds = 300, kStreams = 16 };

typedef int Wait(void*, unsigned*, int, void*, void*);

// Of UCX, which looks for messages of other hosts by it. Uses no variable of the program: the
// caller may be in an operation of its node.
int ucs_event_set_wait(void* set, unsigned* count, int timeout_ms, void* handler, void* argument) {
  FILE* own = fopen("/dev/null", "r");
  if (own != NULL) fclose(own);
  void* library = dlopen("libucs.so.0", RTLD_LAZY | RTLD_NOLOAD);
  Wait* next = (Wait*)dlsym(library, "ucs_event_set_wait");
  return next(set, count, timeout_ms, handler, argument);
}

static FILE* out[kStreams];
static int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* write_text(void* argument) {
  for (int i = 0; i < kStreams; ++i)
    if (fprintf(out[i], "a line of another thread\n") < 0) return NULL;
  return argument;
}

static void pass(int from) {
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&mutex);
    while (turn != from) pthread_cond_wait(&changed, &mutex);
    turn = 1 - from;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
}

static void* answer(void* argument) {
  pass(1);
  return argument;
}

int main(void) {
  pthread_t thread;
  void* result = NULL;
  for (int i = 0; i < kStreams; ++i) out[i] = fopen("/dev/null", "w");
  pthread_create(&thread, NULL, write_text, &thread);
  pthread_join(thread, &result);
  if (result == NULL) return 3;
  for (int i = 0; i < kStreams; ++i)
    if (fclose(out[i]) != 0) return 4;
  pthread_create(&thread, NULL, answer, NULL);
  pass(0);
  pthread_join(thread, NULL);
  puts("good");
  return 0;
}
