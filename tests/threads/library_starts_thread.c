// A library with a thread of its constructor.
#include <pthread.h>

static void* work(void* nothing) { return nothing; }

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) == 0) pthread_join(thread, NULL);
}
