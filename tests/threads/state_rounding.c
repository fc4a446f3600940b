// The floating-point environment of a thread is that of the thread that creates it.
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 3 };

static volatile double one = 1.0, three = 3.0;
static volatile long double long_one = 1.0L, long_three = 3.0L;
static volatile float tiny = 1e-38f, hundred = 100.0f;

struct Found {
  double third;
  long double long_third;
  float small;
  int rounding, flags;
};

static struct Found look(void) {
  struct Found found = {0};
  found.flags = fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT);  // the C library sets it, too
  found.rounding = fegetround();
  found.third = one / three;
  found.long_third = long_one / long_three;
  found.small = tiny / hundred;
  feclearexcept(FE_ALL_EXCEPT);
  return found;
}

static int differ(struct Found a, struct Found b) {
  return a.third != b.third || a.long_third != b.long_third || a.small != b.small ||
         a.rounding != b.rounding || a.flags != b.flags;
}

static struct Found found[kThreads];

static void* run(void* place) {
  *(struct Found*)place = look();
  return NULL;
}

// What main has, its threads have; what a thread changes, main keeps.
static int compare_threads(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, &found[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  struct Found own = look();
  int bad = 0;
  for (int i = 0; i < kThreads; ++i) bad += differ(found[i], own);
  return bad;
}

int main(void) {
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int bad = compare_threads();
  for (int i = 0; i < 4; ++i) {
    fesetround(modes[i]);
    feclearexcept(FE_ALL_EXCEPT);
    if (i % 2 == 1) feraiseexcept(FE_DIVBYZERO | FE_OVERFLOW);
    bad += compare_threads() + (fegetround() != modes[i]);
  }
  printf("%s\n", bad == 0 ? "good" : "BAD");
  return bad != 0;
}
