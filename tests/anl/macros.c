/* The macros of <terrane/anl.h> and anl.m4, family by family: macros FAMILY. Exit code 0: they do
 * what they should. */
#ifdef TERRANE_ANL_HEADER
#include <terrane/anl.h>
#endif
MAIN_ENV;

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWorkers = 4, kRounds = 200, kLocks = 3000, kLast = 99 };

static struct shared {
  LOCKDEC(lock);
  ALOCKDEC(locks, kLocks);
  BARDEC(barrier);
  BARDEC(pair);
  PAUSEDEC(event);
  PAUSEDEC(answer);
  CONDVARDEC(changed);
  GSDEC(subscripts);
  long next_worker;
  long count;
  long seen[kWorkers];
  long taken[kLast + 1];
} * shared;

static void require(int is_right, const char* sentence) {
  if (is_right) return;
  fprintf(stderr, "macros: %s\n", sentence);
  exit(1);
}

static long my_number(void) {
  long me;
  LOCK(shared->lock);
  me = shared->next_worker++;
  UNLOCK(shared->lock);
  return me;
}

/* Calls the function in kWorkers threads, of which this is one. */
static void run(void (*function)(void)) {
#ifdef TERRANE_ANL_SPLASH2
  for (int i = 1; i < kWorkers; i++) {
    CREATE(function);
  }
  function();
  WAIT_FOR_END(kWorkers - 1);
#else
  CREATE(function, kWorkers);
  WAIT_FOR_END(kWorkers);
#endif
  shared->next_worker = 0;
}

static void count_once(void) {
  const long me = my_number();
  shared->seen[me] = me + 1;
}

static void threads(void) {
  for (int round = 0; round < 5; round++) {
    memset(shared->seen, 0, sizeof shared->seen);
    run(count_once);
    for (long i = 0; i < kWorkers; i++)
      require(shared->seen[i] == i + 1, "a thread did not run, or not to its end");
  }
}

/* All four, and in between two and two by another barrier. Each sees what the others wrote before
 * it. */
static void pass_barriers(void) {
  const long me = my_number();
  for (long round = 1; round <= kRounds; round++) {
    shared->seen[me] = round;
    BARRIER(shared->barrier, kWorkers);
    for (long i = 0; i < kWorkers; i++)
      require(shared->seen[i] == round, "a barrier let a thread pass too early");
    if (me < 2) {
      BARRIER(shared->pair, 2);
    }
    BARRIER(shared->barrier, kWorkers);
  }
  BARRIER(shared->pair, kWorkers); /* another number of threads than before */
  LOCK(shared->lock);
  shared->count++;
  UNLOCK(shared->lock);
  BARRIER(shared->pair, kWorkers);
  require(shared->count == kWorkers,
          "a barrier with another number of threads let one pass too early");
}

static void barriers(void) {
#ifdef TERRANE_ANL_SPLASH2
  BARINIT(shared->barrier);
  BARINIT(shared->pair);
#else
  BARINIT(shared->barrier, kWorkers);
  BARINIT(shared->pair, 2);
#endif
  shared->count = 0;
  run(pass_barriers);
}

static void add_under_locks(void) {
  const long me = my_number();
  for (long round = 0; round < kRounds; round++) {
    LOCK(shared->lock);
    shared->count++;
    UNLOCK(shared->lock);
  }
  for (long i = 0; i < kLocks; i++) {
    const long index = (i + me * kLocks / kWorkers) % kLocks;
    ALOCK(shared->locks, index);
    if (index <= kLast) shared->taken[index]++;
    AULOCK(shared->locks, index);
  }
}

static void locks(void) {
  ALOCKINIT(shared->locks, kLocks);
  run(add_under_locks);
  require(shared->count == kWorkers * kRounds, "a lock let two threads in");
  for (long i = 0; i <= kLast; i++)
    require(shared->taken[i] == kWorkers, "a lock of an array let two threads in");
}

/* Worker 0 sets, worker 1 waits and answers. */
static void use_events(void) {
  const long me = my_number();
  if (me > 1) return;
  for (long round = 1; round <= kRounds; round++) {
    if (me == 0) {
      shared->count = round;
      SETPAUSE(shared->event);
      WAITPAUSE(shared->answer);
      CLEARPAUSE(shared->answer);
      require(shared->seen[1] == round, "an event came before what was written before it");
    } else {
      WAITPAUSE(shared->event);
      CLEARPAUSE(shared->event);
      require(shared->count == round, "an event came before what was written before it");
      shared->seen[1] = round;
      SETPAUSE(shared->answer);
    }
  }
}

static void events(void) {
  PAUSEINIT(shared->event);
  PAUSEINIT(shared->answer);
  run(use_events);
  require(shared->seen[1] == kRounds, "not all events came");
#ifdef TERRANE_ANL_SPLASH2
  SETPAUSE(shared->event);
  WAITPAUSE(shared->event);
  WAITPAUSE(shared->event); /* it is set until it is cleared */
#endif
}

static void take_turns(void) {
  const long me = my_number();
  for (long round = 0; round < kRounds; round++) {
    LOCK(shared->lock);
    while (shared->count % kWorkers != me) {
      CONDVARWAIT(shared->changed, shared->lock);
    }
    shared->count++;
    CONDVARBCAST(shared->changed);
    UNLOCK(shared->lock);
  }
  ALOCK(shared->locks, 7);
  CONDVARSIGNAL(shared->changed); /* nobody waits */
  AULOCK(shared->locks, 7);
}

static void conditions(void) {
  CONDVARINIT(shared->changed);
  ALOCKINIT(shared->locks, kLocks);
  run(take_turns);
  require(shared->count == kWorkers * kRounds, "a thread's turn did not come");
  require(&AGETL(shared->locks, 7) == &shared->locks[7], "AGETL gives another lock");
}

static void take_subscripts(void) {
  long found;
  my_number();
  for (int loop = 1; loop <= 3; loop++) {
    for (;;) {
      GETSUB(shared->subscripts, found, kLast, kWorkers);
      if (found < 0) break;
      require(found <= kLast, "a subscript is too great");
      LOCK(shared->lock);
      shared->taken[found]++;
      UNLOCK(shared->lock);
    }
    LOCK(shared->lock); /* all are taken once nobody gets one more */
    require(shared->taken[kLast] >= loop,
            "a thread left the loop before all subscripts were taken");
    UNLOCK(shared->lock);
  }
}

static void subscripts(void) {
  GSINIT(shared->subscripts);
  run(take_subscripts);
  for (long i = 0; i <= kLast; i++)
    require(shared->taken[i] == 3, "a subscript was not taken once in each loop");
}

static void memory(void) {
  double* numbers;
  numbers = (double*)NU_MALLOC(1000 * sizeof *numbers, 1);
  require(numbers != NULL, "NU_MALLOC failed");
  numbers[999] = 1;
  NU_FREE(numbers);
  numbers = (double*)G_MALLOC(1000 * sizeof *numbers);
  require(numbers != NULL, "G_MALLOC failed");
  numbers[999] = 1;
  G_FREE(numbers);
}

static void wait_a_while(void) { usleep(20000); }

static void clocks(void) {
  unsigned long begin;
  unsigned long end;
  CLOCK(begin);
  wait_a_while();
  CLOCK(end);
  ACQUIRE_FENCE();
  RELEASE_FENCE();
  FULL_FENCE();
  require(end - begin >= 20000, "CLOCK does not count microseconds");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*test)(void);
  } families[] = {{"threads", threads}, {"barriers", barriers},     {"locks", locks},
                  {"events", events},   {"conditions", conditions}, {"subscripts", subscripts},
                  {"memory", memory},   {"clock", clocks}};
  shared = (struct shared*)G_MALLOC(sizeof *shared); /* before MAIN_INITENV */
  memset(shared, 0, sizeof *shared);
  MAIN_INITENV(, 1000000);
  LOCKINIT(shared->lock);
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    if (argc == 2 && strcmp(argv[1], families[i].name) == 0) {
      families[i].test();
      MAIN_END;
    }
  }
  fprintf(stderr, "macros: one family of macros is needed\n");
  return 2;
}
