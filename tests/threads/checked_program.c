// Threads that write the same bytes with and without an order. Usage: checked_program WHAT
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kThreads = 2, kRounds = 10, kCells = 3000 };

int counter;
volatile int found;
int guarded;
int ready, turns;
double grid[kThreads][kCells];
static volatile long hidden[1000];
long* heap_array;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
const char* what;

static int is(const char* name) { return strcmp(what, name) == 0; }

// Nothing but two barriers is around what races. A thread that leaves the first one late would know
// what the other has released since, so both wait until they most likely have left it.
static void race(int id) {
  int before = found;  // a copy that comes later would have the other thread's value already
  pthread_barrier_wait(&barrier);
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  if (is("global"))
    for (int i = 0; i < 100; ++i) counter += 3 * id + 1;
  if (is("static")) hidden[500] = id + 1;
  if (is("heap")) heap_array[70] = id + 1;
  if (is("same")) found = before + 1;
  if (is("read") && id == 0) hidden[500] = 7;
  if (is("read") && id == 1) found = (int)hidden[500] * 0;
  if (is("neighbours")) heap_array[id] = id + 1;
  pthread_barrier_wait(&barrier);
}

static void work_in_order(int id) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&lock);
    ++guarded;
    heap_array[i] += id;
    pthread_mutex_unlock(&lock);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCells; ++i) grid[(id + round) % kThreads][i] += id + 1;
    pthread_barrier_wait(&barrier);
  }
  pthread_mutex_lock(&lock);
  if (++ready == kThreads) pthread_cond_broadcast(&changed);
  while (ready < kThreads) pthread_cond_wait(&changed, &lock);
  ++turns;
  pthread_mutex_unlock(&lock);
  char* mine = malloc(100);
  for (int i = 1; i < 50; ++i) {
    mine = realloc(mine, (size_t)i * 40);
    memset(mine, id, (size_t)i * 40);
  }
  free(mine);
}

static void* work(void* raw) {
  int id = (int)(long)raw;
  if (is("none")) {
    work_in_order(id);
  } else {
    race(id);
  }
  return NULL;
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "none";
  heap_array = calloc(1000, sizeof *heap_array);
  pthread_barrier_init(&barrier, NULL, kThreads);
  int times = is("none") ? 3 : 1;
  for (int t = 0; t < times; ++t) {
    pthread_t threads[kThreads];
    ready = 0;
    for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  }
  if (is("none") && (guarded != 600 || turns != 6)) return 1;
  free(heap_array);
  puts("good");
  return 0;
}
