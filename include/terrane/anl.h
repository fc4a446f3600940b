/* The parallel macros of Argonne National Laboratory (ANL, PARMACS), which the SPLASH programs use,
 * over POSIX threads.
 *
 * A program with these macros is an ordinary threads program. It runs by itself, and on several
 * nodes by `terrane threads`. There are two ways to use them:
 *   - a C or C++ program includes this header;
 *   - a SPLASH source goes through `m4 anl.m4 FILE`, and what comes out includes this header
 * (docs/anl.md). Two conventions exist. Splash-3's is the default; TERRANE_ANL_SPLASH2, defined
 * before the header is included
 * (`m4 -DSPLASH2`), selects Splash-2's. They differ in three places:
 *   CREATE     Splash-3: CREATE(f, P) starts P - 1 threads in f and calls f itself. Splash-2:
 * CREATE(f) starts one thread. BARINIT    Splash-3: BARINIT(b, P). Splash-2: BARINIT(b), and the
 * first BARRIER(b, P) decides. PAUSE      Splash-3: WAITPAUSE consumes one SETPAUSE. Splash-2:
 * SETPAUSE sets a flag until CLEARPAUSE. Each error of the system (no more threads, for instance)
 * ends the program with one sentence.
 */
#ifndef TERRANE_ANL_H
#define TERRANE_ANL_H

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef PTHREAD_BARRIER_SERIAL_THREAD
#error \
    "terrane/anl.h needs all of POSIX threads: compile with -std=gnu11, or with -D_XOPEN_SOURCE=700"
#endif

/* ---- What the macros are made of. Programs use the macros below. ---- */

/* Ends the program with one sentence if a call of the C library failed. `error`: its result, or
 * errno. */
static inline void terrane_anl_require(int error, const char* macro) {
  if (error == 0) return;
  fprintf(stderr, "anl: %s: %s\n", macro, strerror(error));
  exit(1);
}

/* The threads of CREATE that nobody has waited for. */
struct terrane_anl_thread {
  pthread_t id;
  struct terrane_anl_thread* next;
};
struct terrane_anl_environment {
  pthread_mutex_t guard;
  struct terrane_anl_thread* running;
  unsigned long barriers; /* how many have been initialised: the newest one's number */
};
/* One for the whole program, whichever of its files include this header. */
__attribute__((weak)) struct terrane_anl_environment terrane_anl_environment = {
    PTHREAD_MUTEX_INITIALIZER, NULL, 0};

static inline void* terrane_anl_entry(void* function) {
  ((void (*)(void))(uintptr_t)function)();
  return NULL;
}

/* Starts `count` threads in `function`. */
static inline void terrane_anl_create(void (*function)(void), long count) {
  long i;
  for (i = 0; i < count; i++) {
    struct terrane_anl_thread* thread = (struct terrane_anl_thread*)malloc(sizeof *thread);
    terrane_anl_require(thread == NULL ? ENOMEM : 0, "CREATE");
    terrane_anl_require(
        pthread_create(&thread->id, NULL, terrane_anl_entry, (void*)(uintptr_t)function), "CREATE");
    pthread_mutex_lock(&terrane_anl_environment.guard);
    thread->next = terrane_anl_environment.running;
    terrane_anl_environment.running = thread;
    pthread_mutex_unlock(&terrane_anl_environment.guard);
  }
}

/* Waits until `count` threads of CREATE have ended, or all of them if there are fewer. */
static inline void terrane_anl_wait_for_end(long count) {
  long i;
  for (i = 0; i < count; i++) {
    pthread_mutex_lock(&terrane_anl_environment.guard);
    struct terrane_anl_thread* thread = terrane_anl_environment.running;
    if (thread != NULL) terrane_anl_environment.running = thread->next;
    pthread_mutex_unlock(&terrane_anl_environment.guard);
    if (thread == NULL) return;
    terrane_anl_require(pthread_join(thread->id, NULL), "WAIT_FOR_END");
    free(thread);
  }
}

static inline void terrane_anl_locks_init(pthread_mutex_t* locks, long count) {
  long i;
  for (i = 0; i < count; i++) pthread_mutex_init(&locks[i], NULL);
}

/* A barrier. The first count of threads gets a barrier of POSIX threads, which is the fast way; a
 * BARRIER with another count takes the slow way, through `turn`. `count` never changes once it is
 * set: a thread that has seen it under the guard may rely on it for ever. */
struct terrane_anl_barrier {
  pthread_mutex_t guard;
  pthread_barrier_t fast;
  unsigned long number; /* of all barriers of the program: no two have the same */
  unsigned count;       /* that `fast` was made for, or 0: not made */
  unsigned arrived, round;
  pthread_cond_t turn;
};

static inline void terrane_anl_barrier_open(struct terrane_anl_barrier* barrier, unsigned count) {
  terrane_anl_require(pthread_barrier_init(&barrier->fast, NULL, count), "BARRIER");
  barrier->count = count;
}

/* `count` 0: the first thread to arrive decides. */
static inline void terrane_anl_barrier_init(struct terrane_anl_barrier* barrier, unsigned count) {
  memset(barrier, 0, sizeof *barrier);
  pthread_mutex_init(&barrier->guard, NULL);
  pthread_cond_init(&barrier->turn, NULL);
  pthread_mutex_lock(&terrane_anl_environment.guard);
  barrier->number = ++terrane_anl_environment.barriers;
  pthread_mutex_unlock(&terrane_anl_environment.guard);
  if (count != 0) terrane_anl_barrier_open(barrier, count);
}

static inline void terrane_anl_barrier_slow(struct terrane_anl_barrier* barrier, unsigned count) {
  pthread_mutex_lock(&barrier->guard);
  unsigned round = barrier->round;
  if (++barrier->arrived == count) {
    barrier->arrived = 0;
    barrier->round++;
    pthread_cond_broadcast(&barrier->turn);
  }
  while (round == barrier->round) pthread_cond_wait(&barrier->turn, &barrier->guard);
  pthread_mutex_unlock(&barrier->guard);
}

/* Splash-2: `count` of the barrier is set by a concurrent thread, so each thread reads it once
 * under the guard. */
static inline unsigned terrane_anl_barrier_count(struct terrane_anl_barrier* barrier,
                                                 unsigned count) {
  static __thread unsigned long
      known[64]; /* numbers of barriers whose count this thread has seen */
  unsigned long* seen = &known[barrier->number % 64];
  if (*seen != barrier->number) {
    pthread_mutex_lock(&barrier->guard);
    if (barrier->count == 0) terrane_anl_barrier_open(barrier, count);
    pthread_mutex_unlock(&barrier->guard);
    *seen = barrier->number;
  }
  return barrier->count;
}

/* `is_open`: the count was given to BARINIT. */
static inline void terrane_anl_barrier_wait(struct terrane_anl_barrier* barrier, unsigned count,
                                            int is_open) {
  unsigned fast = is_open ? barrier->count : terrane_anl_barrier_count(barrier, count);
  if (count == fast) {
    pthread_barrier_wait(&barrier->fast);
  } else {
    terrane_anl_barrier_slow(barrier, count);
  }
}

/* Splash-2's event: a flag that any number of threads may wait for. */
struct terrane_anl_pause {
  pthread_mutex_t guard;
  pthread_cond_t changed;
  int is_set;
};

static inline void terrane_anl_pause_init(struct terrane_anl_pause* pause) {
  memset(pause, 0, sizeof *pause);
  pthread_mutex_init(&pause->guard, NULL);
  pthread_cond_init(&pause->changed, NULL);
}

static inline void terrane_anl_pause_set(struct terrane_anl_pause* pause, int is_set) {
  pthread_mutex_lock(&pause->guard);
  pause->is_set = is_set;
  if (is_set) pthread_cond_broadcast(&pause->changed);
  pthread_mutex_unlock(&pause->guard);
}

static inline void terrane_anl_pause_wait(struct terrane_anl_pause* pause) {
  pthread_mutex_lock(&pause->guard);
  while (!pause->is_set) pthread_cond_wait(&pause->changed, &pause->guard);
  pthread_mutex_unlock(&pause->guard);
}

/* Splash-3's event: a count of the SETPAUSEs that no WAITPAUSE has consumed. */
static inline void terrane_anl_semaphore_wait(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) terrane_anl_require(errno == EINTR ? 0 : errno, "WAITPAUSE");
}

/* Subscripts of a loop that its threads share. */
struct terrane_anl_subscripts {
  pthread_mutex_t guard;
  pthread_cond_t turn;
  long next;
  unsigned arrived, round;
};

static inline void terrane_anl_subscripts_init(struct terrane_anl_subscripts* subscripts) {
  memset(subscripts, 0, sizeof *subscripts);
  pthread_mutex_init(&subscripts->guard, NULL);
  pthread_cond_init(&subscripts->turn, NULL);
}

/* The next of 0 to `last`. After the last: -1, once `threads` threads have come for it; then the
 * loop may begin anew. */
static inline long terrane_anl_subscripts_next(struct terrane_anl_subscripts* subscripts, long last,
                                               unsigned threads) {
  pthread_mutex_lock(&subscripts->guard);
  long found = -1;
  unsigned round = subscripts->round;
  if (subscripts->next <= last) {
    found = subscripts->next++;
  } else if (++subscripts->arrived == threads) {
    subscripts->arrived = 0;
    subscripts->next = 0;
    subscripts->round++;
    pthread_cond_broadcast(&subscripts->turn);
  } else {
    while (round == subscripts->round) pthread_cond_wait(&subscripts->turn, &subscripts->guard);
  }
  pthread_mutex_unlock(&subscripts->guard);
  return found;
}

/* Microseconds since 1970. */
static inline unsigned long terrane_anl_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (unsigned long)now.tv_sec * 1000000UL + (unsigned long)now.tv_nsec / 1000UL;
}

/* ---- The macros, for programs that m4 has not seen. anl.m4 has the same list. ---- */
#ifndef TERRANE_ANL_BY_M4

#define MAIN_ENV struct terrane_anl_environment
#define EXTERN_ENV struct terrane_anl_environment
#define MAIN_INITENV(...) \
  ((void)0) /* PARMACS: clock resolution, bytes of shared memory; neither has a limit here */
#define MAIN_END exit(0)

#define WAIT_FOR_END(count) terrane_anl_wait_for_end(count)
#ifdef TERRANE_ANL_SPLASH2
#define CREATE(function) terrane_anl_create((void (*)(void))(function), 1)
#define BARINIT(barrier) terrane_anl_barrier_init(&(barrier), 0)
#define BARRIER(barrier, count) terrane_anl_barrier_wait(&(barrier), (unsigned)(count), 0)
#else
#define CREATE(function, count) \
  (terrane_anl_create((void (*)(void))(function), (count)-1), (function)())
#define BARINIT(barrier, count) terrane_anl_barrier_init(&(barrier), (unsigned)(count))
#define BARRIER(barrier, count) terrane_anl_barrier_wait(&(barrier), (unsigned)(count), 1)
#endif
#define BARDEC(barrier) struct terrane_anl_barrier barrier
#define BARINCLUDE(barrier) ((void)0) /* each BARRIER says how many threads take part */
#define BAREXCLUDE(barrier) ((void)0)

#define G_MALLOC(bytes) malloc(bytes)
#define G_FREE(address) free(address)
#define NU_MALLOC(bytes, node) malloc(bytes)
#define NU_FREE(address) free(address)

#define LOCKDEC(lock) pthread_mutex_t lock
#define LOCKINIT(lock) terrane_anl_locks_init(&(lock), 1)
#define LOCK(lock) pthread_mutex_lock(&(lock))
#define UNLOCK(lock) pthread_mutex_unlock(&(lock))
#define ALOCKDEC(locks, count) pthread_mutex_t locks[count]
#define ALOCKINIT(locks, count) terrane_anl_locks_init((locks), (count))
#define ALOCK(locks, index) pthread_mutex_lock(&(locks)[index])
#define AULOCK(locks, index) pthread_mutex_unlock(&(locks)[index])
#define AGETL(locks, index) ((locks)[index])

#ifdef TERRANE_ANL_SPLASH2
#define PAUSEDEC(event) struct terrane_anl_pause event
#define PAUSEINIT(event) terrane_anl_pause_init(&(event))
#define SETPAUSE(event) terrane_anl_pause_set(&(event), 1)
#define CLEARPAUSE(event) terrane_anl_pause_set(&(event), 0)
#define WAITPAUSE(event) terrane_anl_pause_wait(&(event))
#else
#define PAUSEDEC(event) sem_t event
#define PAUSEINIT(event) sem_init(&(event), 0, 0)
#define SETPAUSE(event) sem_post(&(event))
#define CLEARPAUSE(event) ((void)0) /* WAITPAUSE has consumed it */
#define WAITPAUSE(event) terrane_anl_semaphore_wait(&(event))
#endif
#define PAUSE(event) ((void)0)
#define EVENT(event) ((void)0) /* a mark for simulators */

#define CONDVARDEC(condition) pthread_cond_t condition
#define CONDVARINIT(condition) pthread_cond_init(&(condition), NULL)
#define CONDVARWAIT(condition, lock) pthread_cond_wait(&(condition), &(lock))
#define CONDVARSIGNAL(condition) pthread_cond_signal(&(condition))
#define CONDVARBCAST(condition) pthread_cond_broadcast(&(condition))

#define GSDEC(subscripts) struct terrane_anl_subscripts subscripts
#define GSINIT(subscripts) terrane_anl_subscripts_init(&(subscripts))
#define GETSUB(subscripts, found, last, threads) \
  ((found) = terrane_anl_subscripts_next(&(subscripts), (last), (unsigned)(threads)))

#define CLOCK(time) ((time) = terrane_anl_clock())
#define ACQUIRE_FENCE() \
  __atomic_thread_fence(__ATOMIC_ACQUIRE) /* between threads of one node: see docs/anl.md */
#define RELEASE_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#define FULL_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* What only simulators and tracers of the SPLASH programs listen to. */
#define AUG_ON ((void)0)
#define AUG_OFF ((void)0)
#define AUG_SET_LOLIMIT(limit) ((void)0)
#define AUG_SET_HILIMIT(limit) ((void)0)
#define AUG_DELAY(seconds) sleep(seconds)
#define SPLASH3_ROI_BEGIN() ((void)0)
#define SPLASH3_ROI_END() ((void)0)

#endif
#endif
