/* Corners of OpenMP, in a program that knows nothing of Terrane. Each mode prints "good" where all
 * results are right, for any number of threads. */
#include <fenv.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define MOST 64

static int wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

/* A nested lock belongs to a task: others on the same thread do not have it. */
static void nested_locks(void) {
  omp_nest_lock_t lock;
  int in_region = -1, in_task = -1, in_child = -1, own = -1, after = -1, total = 0;
  omp_init_nest_lock(&lock);
  omp_set_nest_lock(&lock);
#pragma omp parallel num_threads(1) shared(in_region)
  in_region = omp_test_nest_lock(&lock);
#pragma omp task if (0) shared(in_task, lock)
  in_task = omp_test_nest_lock(&lock);
#pragma omp target map(tofrom : in_child)
  in_child = omp_test_nest_lock(&lock);
  own = omp_test_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
#pragma omp task if (0) shared(after, lock)
  {
    after = omp_test_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  expect(in_region == 0 && in_task == 0 && in_child == 0, "a nested lock of another task");
  expect(own == 2 && after == 1, "a nested lock of the own task, and a free one");
#pragma omp parallel for
  for (int i = 0; i < 200; i++) {
#pragma omp task shared(total)
    {
      omp_set_nest_lock(&lock);
      omp_set_nest_lock(&lock);
      total += 1;
      omp_unset_nest_lock(&lock);
      omp_unset_nest_lock(&lock);
    }
  }
  expect(total == 200, "tasks that exclude each other by a nested lock");
  omp_destroy_nest_lock(&lock);
}

static volatile double one = 1.0, three = 3.0;
static volatile long double long_one = 1.0L, long_three = 3.0L;
static volatile float tiny = 1e-38f, hundred = 100.0f;
static double thirds[MOST];
static long double long_thirds[MOST];
static float denormals[MOST];

static int compute(void) {
  int threads = 0;
  memset(thirds, 0, sizeof thirds);
#pragma omp parallel shared(threads)
  {
    int me = omp_get_thread_num();
    thirds[me] = one / three;
    long_thirds[me] = long_one / long_three;
    denormals[me] = tiny / hundred;
#pragma omp master
    threads = omp_get_num_threads();
  }
  for (int i = 1; i < threads; i++)
    expect(thirds[i] == thirds[0] && long_thirds[i] == long_thirds[0] &&
               memcmp(&denormals[i], &denormals[0], sizeof denormals[0]) == 0,
           "a thread rounds as its master");
  return threads;
}

/* A team has the rounding mode of its master, at each region. */
static void floating_point(void) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  for (int i = 0; i < 4; i++) {
    fesetround(modes[i]);
    compute();
  }
#if defined(__x86_64__)
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  compute();
  expect(denormals[0] == 0, "denormals are zeros");
  __builtin_ia32_ldmxcsr(before);
#endif
  compute();
}

#pragma pack(push, 1)
static struct {
  char before;
  short small;
  int number;
  char between;
  double real;
  long long large;
} packed, crossing[2000];
#pragma pack(pop)

/* Atomics of members that are not aligned, some of them on two pages. */
static void unaligned(void) {
  long long read = 0;
#pragma omp parallel for
  for (int i = 0; i < 400; ++i) {
#pragma omp atomic
    packed.number++;
#pragma omp atomic
    packed.small++;
#pragma omp atomic
    packed.real += 0.5;
#pragma omp atomic seq_cst
    packed.large += 3;
#pragma omp atomic
    packed.before++;
  }
#pragma omp atomic read
  read = packed.large;
  expect(packed.number == 400 && packed.small == 400 && packed.real == 200, "packed members");
  expect(packed.before == (char)400 && read == 1200, "packed members of other sizes");
#pragma omp parallel
  for (int i = 0; i < 2000; i += 100) {
#pragma omp atomic
    crossing[i].large += 1;
  }
  for (int i = 0; i < 2000; i += 100)
    expect(crossing[i].large == omp_get_max_threads(), "members over a page's end");
}

static int parts[MOST], part_count;

static int part_of(int* mark) {
  if (*mark != 0) return *mark - 1;
#pragma omp atomic capture
  *mark = ++part_count;
  return *mark - 1;
}

/* All tasks of the loop but one have exactly as many iterations as it says. */
static void strict_taskloops(void) {
  for (int iterations = 1; iterations < 24; iterations++) {
    for (int grain = 1; grain < 6; grain++) {
      int mark = 0, full = 0, rest = 0, shorter = 0;
      memset(parts, 0, sizeof parts);
      part_count = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(strict : grain) firstprivate(mark)
      for (int i = 0; i < iterations; i++) {
        int part = part_of(&mark);
#pragma omp atomic
        parts[part]++;
      }
      for (int i = 0; i < part_count; i++) {
        full += parts[i] == grain;
        shorter += parts[i] != grain;
        if (parts[i] != grain) rest = parts[i];
      }
      expect(full == iterations / grain && rest == iterations % grain && shorter <= 1,
             "grainsize(strict)");
    }
  }
}

/* Each thread of a team of a league knows its team; a device within it knows of none. */
static void devices_in_teams(void) {
  int teams = 0, good = 0, threads = 0;
#pragma omp teams num_teams(2) reduction(+ : teams, good, threads)
  {
    int team = omp_get_team_num();
    teams += 1;
#pragma omp parallel reduction(+ : good, threads)
    {
      int inside = 0, count = omp_get_num_teams();
      threads += 1;
#pragma omp target map(tofrom : inside)
      {
        int nested = 0;
#pragma omp parallel num_threads(1) reduction(+ : nested)
        nested += 1;
        inside = omp_get_num_teams() == 1 && omp_get_team_num() == 0 && omp_get_level() == 0 &&
                 omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && !omp_in_parallel() &&
                 nested == 1;
      }
#pragma omp barrier
      good += inside && omp_get_team_num() == team && omp_get_num_teams() == count &&
              omp_get_level() == 1;
    }
  }
  expect(teams >= 1 && good == threads, "a device in a region in a team");
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    void (*function)(void);
  } modes[] = {{"nested_locks", nested_locks},
               {"floating_point", floating_point},
               {"unaligned", unaligned},
               {"strict_taskloops", strict_taskloops},
               {"devices_in_teams", devices_in_teams}};
  for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (argc < 2 || strcmp(argv[1], modes[i].name) == 0) modes[i].function();
  if (!wrong) printf("good\n");
  return wrong;
}
