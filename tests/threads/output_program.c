// Threads that write to standard output, or to a file of main's, one after the other by every means
// that orders them:
//   output_program WAY [FILE]
// What is written is the same in every run, so that the test can compare it with a run of the
// program alone. The ways "lines" and "locked" order nothing: the same lines in another order.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { kThreads = 4, kTurns = 40, kLines = 400 };

static const char* way;
static FILE* out;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static mtx_t c_mutex;
static sem_t turns[kThreads];
static int pipes[kThreads][2];
static int turn;
static _Atomic int atomic_turn;

static void write_record(int i, int me) {
  char text[32];
  switch (i % 5) {
    case 0:
      fprintf(out, "record %d of thread %d\n", i, me);
      break;
    case 1:
      fprintf(out, "record %d ", i);
      snprintf(text, sizeof text, "of thread %d", me);
      fputs(text, out);
      fputc('\n', out);
      break;
    case 2:
      for (const char* at = "record "; *at != '\0'; ++at) putc(*at, out);
      fprintf(out, "%d of thread %d\n", i, me);
      break;
    case 3:
      snprintf(text, sizeof text, "record %d of ", i);
      fwrite(text, 1, strlen(text), out);
      snprintf(text, sizeof text, "thread %d", me);
      if (out == stdout) {
        puts(text);
      } else {
        fprintf(out, "%s\n", text);
      }
      break;
    default:
      fprintf(out, "record %d %0*d of thread %d\n", i, 200 * (i % 3) + 1, i, me);
  }
}

// Takes one turn where it is the thread's; whether it was.
static int take_turn(int i, int me) {
  if (turn != i * kThreads + me) return 0;
  write_record(i, me);
  ++turn;
  return 1;
}

static void take_turn_by_lock(int i, int me) {
  for (int done = 0; !done; done ? 0 : usleep(100)) {
    if (!strcmp(way, "rwlock")) pthread_rwlock_wrlock(&rwlock);
    if (!strcmp(way, "spinlock")) pthread_spin_lock(&spinlock);
    if (!strcmp(way, "c_mutex")) mtx_lock(&c_mutex);
    done = take_turn(i, me);
    if (!strcmp(way, "rwlock")) pthread_rwlock_unlock(&rwlock);
    if (!strcmp(way, "spinlock")) pthread_spin_unlock(&spinlock);
    if (!strcmp(way, "c_mutex")) mtx_unlock(&c_mutex);
  }
}

static void take_turn_by_condition(int i, int me) {
  pthread_mutex_lock(&mutex);
  while (!take_turn(i, me)) pthread_cond_wait(&changed, &mutex);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void take_turn_by_atomic(int i, int me) {
  while (atomic_load_explicit(&atomic_turn, memory_order_acquire) != i * kThreads + me) usleep(50);
  write_record(i, me);
  atomic_store_explicit(&atomic_turn, i * kThreads + me + 1, memory_order_release);
}

static void take_turn_by_pipe(int i, int me) {
  char byte = 0;
  if (read(pipes[me][0], &byte, 1) != 1) abort();
  write_record(i, me);
  if (write(pipes[(me + 1) % kThreads][1], &byte, 1) != 1) abort();
}

// One after the other at a barrier.
static void take_turn_at_barrier(int i, int me) {
  for (int who = 0; who < kThreads; ++who) {
    if (who == me) write_record(i, me);
    pthread_barrier_wait(&barrier);
  }
}

static void write_lines(int me) {
  for (int i = 0; i < kLines; ++i)
    fprintf(out, "line %d of thread %d %0*d\n", i, me, 1 + (i * 37) % 300, 0);
}

static void write_locked(int me) {
  for (int i = 0; i < kTurns; ++i) {
    flockfile(out);
    fprintf(out, "line %d", i);
    usleep(100);
    fputs(" of thread", out);
    usleep(100);
    fprintf(out, " %d\n", me);
    funlockfile(out);
  }
}

static void* work(void* argument) {
  int me = (int)(long)argument;
  if (!strcmp(way, "lines")) return write_lines(me), NULL;
  if (!strcmp(way, "locked")) return write_locked(me), NULL;
  for (int i = 0; i < kTurns; ++i) {
    if (!strcmp(way, "condition")) {
      take_turn_by_condition(i, me);
    } else if (!strcmp(way, "semaphore")) {
      sem_wait(&turns[me]);
      write_record(i, me);
      sem_post(&turns[(me + 1) % kThreads]);
    } else if (!strcmp(way, "atomic")) {
      take_turn_by_atomic(i, me);
    } else if (!strcmp(way, "barrier")) {
      take_turn_at_barrier(i, me);
    } else if (!strcmp(way, "pipe")) {
      take_turn_by_pipe(i, me);
    } else if (!strcmp(way, "write")) {
      pthread_mutex_lock(&mutex);
      while (!take_turn(i, me)) pthread_cond_wait(&changed, &mutex);
      fflush(out);
      dprintf(fileno(out), "by its number, %d\n", me);
      pthread_cond_broadcast(&changed);
      pthread_mutex_unlock(&mutex);
    } else if (!strcmp(way, "join")) {
      write_record(i, me);
    } else {
      take_turn_by_lock(i, me);
    }
  }
  return NULL;
}

static void run_threads(void) {
  pthread_t threads[kThreads];
  for (long t = 0; t < kThreads; ++t) {
    pthread_create(&threads[t], NULL, work, (void*)t);
    if (!strcmp(way, "join")) pthread_join(threads[t], NULL);
  }
  for (int t = 0; strcmp(way, "join") != 0 && t < kThreads; ++t) pthread_join(threads[t], NULL);
}

static void prepare(void) {
  pthread_barrier_init(&barrier, NULL, kThreads);
  pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&c_mutex, mtx_plain);
  for (int t = 0; t < kThreads; ++t) {
    sem_init(&turns[t], 0, t == 0);
    if (pipe(pipes[t]) != 0) abort();
  }
  if (write(pipes[0][1], "", 1) != 1) abort();
}

// Each text is to be there however the program ends, since main has set how the output is buffered.
static void* say_and_crash(void* argument) {
  static volatile int* volatile nowhere = (int*)16;
  printf("a thread has said this");
  if (!strcmp(way, "lines_crash")) puts("");
  if (!strcmp(way, "none_crash")) abort();
  if (!strcmp(way, "lines_crash")) *nowhere = 1;
  _exit(5);
  return argument;
}

static void set_buffer_and_crash(void) {
  setvbuf(stdout, NULL, !strcmp(way, "lines_crash") ? _IOLBF : _IONBF, 0);
  pthread_t thread;
  for (int t = 0; t < 2; ++t) pthread_create(&thread, NULL, say_and_crash, NULL);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  way = argv[1];
  out = argc > 2 ? fopen(argv[2], "w") : stdout;
  if (strstr(way, "crash") != NULL) set_buffer_and_crash();
  prepare();
  fprintf(out, "the header\n");
  run_threads();
  fprintf(out, "the trailer\n");
  if (out != stdout && fclose(out) != 0) return 1;
  return 0;
}
