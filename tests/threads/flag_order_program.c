// Data that flags order: atomic stores and loads that are ordinary instructions, so that the
// protocol knows nothing of them. Each flag has a page of its own, in which nothing else is atomic.
// Usage: flag_order_program WHAT
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { kCells = 1000 };

_Alignas(4096) int data[1024];
_Alignas(4096) atomic_int flag;
_Alignas(4096) int end_of_flag;
sem_t begun;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
const char* what;

static int is(const char* name) { return strcmp(what, name) == 0; }

static void wait_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

static void change_data(int by) {
  for (int i = 0; i < kCells; ++i) data[i] += by;
}

// polled: the loop begins before the store, which comes before it is known to wait.
static void* other(void* nothing) {
  if (is("polled")) {
    if (atomic_load_explicit(&flag, memory_order_acquire) == 0) sem_post(&begun);
    while (atomic_load_explicit(&flag, memory_order_acquire) == 0) continue;
    change_data(1000);
  } else if (is("looked")) {
    change_data(1);
    atomic_store_explicit(&flag, 1, memory_order_release);
  } else if (is("stores")) {
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
  } else if (is("race")) {
    change_data(1);
    atomic_store_explicit(&flag, 1, memory_order_release);
    pthread_mutex_lock(&lock);  // what follows belongs to another interval
    pthread_mutex_unlock(&lock);
    change_data(5);
    wait_ms(600);
  }
  return nothing;
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "polled";
  sem_init(&begun, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  if (is("polled")) {
    sem_wait(&begun);
    wait_ms(40);
    change_data(1);
    atomic_store_explicit(&flag, 1, memory_order_release);
  } else if (is("stores")) {
    atomic_store_explicit(&flag, 2, memory_order_relaxed);
  } else {
    wait_ms(300);
    int seen = atomic_load_explicit(&flag, memory_order_acquire);
    if (seen != 0) change_data(1000);
  }
  pthread_join(thread, NULL);
  if (is("polled") && (data[0] != 1001 || data[kCells - 1] != 1001)) return 1;
  puts("good");
  return 0;
}
