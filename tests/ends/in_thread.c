// Threads for a program in Fortran (stops.f90).
#include <pthread.h>

enum { kThreads = 3 };

static void* run(void* function) {
  if (function != NULL) ((void (*)(void))function)();
  return NULL;
}

void run_in_thread(void (*function)(void), int number);

// On the thread of that number, from 1; the others do nothing.
void run_in_thread(void (*function)(void), int number) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], NULL, run, i + 1 == number ? (void*)function : NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}
