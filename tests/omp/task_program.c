/* OpenMP programs of tasks that move between nodes. Each mode prints "good" where all results are
 * right, for any number of threads. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

/* Some work, which depends on all that was done before. */
static double work(double x, int steps) {
  for (int i = 0; i < steps; i++) x = x * 0.999 + 1e-3 * (i % 7);
  return x;
}

/* One thread creates tasks that are worth their way. */
enum { kTasks = 300, kSteps = 60000 };
static double results[kTasks], given[kTasks];
static int ran_by[kTasks];

static void coarse(void) {
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kTasks; i++) given[i] = i + round;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < kTasks; i++) {
      given[i] += 1;
#pragma omp task firstprivate(i)
      {
        results[i] = work(given[i], kSteps);
        ran_by[i] = omp_get_thread_num();
      }
    }
    for (int i = 0; i < kTasks; i++) {
      expect(results[i] == work(i + round + 1, kSteps), "coarse tasks");
      expect(ran_by[i] >= 0 && ran_by[i] < omp_get_max_threads(), "their threads");
    }
  }
}

/* Trees of tasks without a limit, whose variables lie on the stacks of those that wait. */
static long fib(int n) {
  long a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static int fits(const char* rows, int row, int column) {
  for (int i = 0; i < row; i++)
    if (rows[i] == column || abs(rows[i] - column) == row - i) return 0;
  return 1;
}

static int queens(int n, int row, const char* rows) {
  if (row == n) return 1;
  int counts[16] = {0}, sum = 0;
  for (int column = 0; column < n; column++) {
    if (!fits(rows, row, column)) continue;
#pragma omp task shared(counts) firstprivate(column)
    {
      char more[16];
      memcpy(more, rows, (size_t)row);
      more[row] = (char)column;
      counts[column] = queens(n, row + 1, more);
    }
  }
#pragma omp taskwait
  for (int column = 0; column < n; column++) sum += counts[column];
  return sum;
}

static void trees(void) {
  long found = 0;
  int solutions = 0;
#pragma omp parallel
#pragma omp single
  found = fib(23);
  expect(found == 28657, "fib");
#pragma omp parallel
#pragma omp single
  solutions = queens(9, 0, "");
  expect(solutions == 352, "queens");
}

/* Sorts by merging: tasks write to halves of arrays that their parents read. */
enum { kNumbers = 1 << 18, kLeaf = 1 << 11 };
static int numbers[kNumbers], spare[kNumbers];

static int by_size(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

static void sort(int* at, int* other, int count) {
  if (count <= kLeaf) {
    qsort(at, (size_t)count, sizeof *at, by_size);
    return;
  }
  int half = count / 2, i = 0, j = half;
#pragma omp task
  sort(at, other, half);
#pragma omp task
  sort(at + half, other + half, count - half);
#pragma omp taskwait
  for (int k = 0; k < count; k++)
    other[k] = j == count || (i < half && at[i] <= at[j]) ? at[i++] : at[j++];
  memcpy(at, other, (size_t)count * sizeof *at);
}

static void sorting(void) {
  unsigned state = 1;
  long before = 0, after = 0;
  for (int i = 0; i < kNumbers; i++) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (int)(state >> 8);
    before += numbers[i];
  }
#pragma omp parallel
#pragma omp single
  sort(numbers, spare, kNumbers);
  int sorted = 1;
  for (int i = 0; i < kNumbers; i++) {
    after += numbers[i];
    if (i > 0 && numbers[i - 1] > numbers[i]) sorted = 0;
  }
  expect(sorted && before == after, "sorting");
}

/* Groups, tasks in tasks, reductions, final and undeferred tasks, dependences, taskloops. */
static void features(void) {
  for (int round = 0; round < 5; round++) {
    static double cells[64][8];
    long sum = 0, parts[3] = {0}, loop = 0, finals = 0, order = 0;
    int grouped = 1, at_once = 1, chain = 0;
    memset(cells, 0, sizeof cells);
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
      {
        for (int i = 0; i < 64; i++) {
#pragma omp task firstprivate(i)
          for (int j = 0; j < 8; j++) {
#pragma omp task firstprivate(i, j)
            cells[i][j] = work(i + j, 3000);
          }
        }
      }
      for (int i = 0; i < 64; i++)
        for (int j = 0; j < 8; j++) grouped &= cells[i][j] == work(i + j, 3000);
#pragma omp taskgroup task_reduction(+ : sum, parts)
      {
        for (int i = 0; i < 60; i++) {
#pragma omp task in_reduction(+ : sum, parts) firstprivate(i)
          {
            sum += i + (work(i, 20000) < -1);
            parts[i % 3]++;
#pragma omp task in_reduction(+ : sum)
            sum += 100;
          }
        }
      }
#pragma omp taskloop reduction(+ : loop) num_tasks(20)
      for (int i = 0; i < 1000; i++) loop += i + (work(i, 500) < -1);
      for (int i = 0; i < 30; i++) {
#pragma omp task final(1) shared(finals) firstprivate(i)
        {
          long own = 0;
          work(i, 20000);
#pragma omp task shared(own)
          own = omp_in_final();
#pragma omp atomic
          finals += own;
        }
        int here = omp_get_thread_num(), there = -1;
#pragma omp task if (0) shared(there)
        there = omp_get_thread_num();
        at_once &= here == there;
#pragma omp task depend(inout : chain) mergeable
        chain = chain == i ? i + 1 : -1000;
      }
#pragma omp taskwait
      order = chain;
    }
    expect(grouped, "a taskgroup ends with the tasks within its tasks");
    expect(sum == 1770 + 6000 && parts[0] == 20 && parts[2] == 20, "task reductions");
    expect(loop == 499500, "a taskloop");
    expect(finals == 30 && at_once && order == 30, "final, undeferred and dependent tasks");
  }
}

/* Tasks of all threads, for which a barrier waits; what they wrote is seen behind it. */
static void barriers(void) {
  static double made[8][50];
  int good = 1;
#pragma omp parallel reduction(&& : good)
  {
    int me = omp_get_thread_num() % 8, threads = omp_get_num_threads();
    for (int round = 0; round < 10; round++) {
      for (int i = 0; i < 50 && (round + me) % 2 == 0; i++) {
#pragma omp task firstprivate(i, me, round)
        made[me][i] = work(i + round, 10000);
      }
#pragma omp barrier
      for (int t = 0; t < threads && t < 8; t++)
        for (int i = 0; i < 50 && (round + t) % 2 == 0; i += 7)
          good = good && made[t][i] == work(i + round, 10000);
#pragma omp barrier
    }
  }
  expect(good, "tasks before barriers");
}

/* The heap, and a variable of each thread. */
static int mine = -1;
#pragma omp threadprivate(mine)

static void memory(void) {
  char* blocks[100] = {0};
  int good = 1;
#pragma omp parallel
  {
    mine = omp_get_thread_num();
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 100; i++) {
#pragma omp task shared(blocks, good) firstprivate(i)
      {
        work(i, 30000);
        blocks[i] = malloc(1000);
        memset(blocks[i], i, 1000);
        if (mine != omp_get_thread_num()) {
#pragma omp atomic write
          good = 0;
        }
      }
    }
  }
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 1000; j++) good = good && blocks[i][j] == i;
    free(blocks[i]);
  }
  expect(good, "memory of tasks");
}

/* So many tasks that they must not all wait. */
static void millions(void) {
  long done = 0;
#pragma omp parallel reduction(+ : done)
  {
#pragma omp single
    for (long i = 0; i < 10000000; i++) {
#pragma omp task if (i % 2)
      __asm__ volatile("" ::: "memory");
    }
    done++;
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  expect(done == omp_get_max_threads(), "ten million tasks");
  expect(usage.ru_maxrss < 300 << 10, "their memory"); /* KiB */
}

/* Many threads of one node wait for one task, and seldom wake: three million times and more if each
   slept for half a millisecond at most. */
static void crowd(void) {
  struct rusage usage;
  double made = 0;
#pragma omp parallel num_threads(400)
#pragma omp single
#pragma omp task shared(made)
  made = work(7, 300000000);
  expect(made != 0, "a task of a crowd");
  getrusage(RUSAGE_SELF, &usage);
  if (usage.ru_nvcsw > 1000000) printf("the threads slept %ld times\n", usage.ru_nvcsw);
  expect(usage.ru_nvcsw <= 1000000, "threads that leave the processors to a task");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kModes[] = {{"coarse", coarse},     {"trees", trees},   {"sorting", sorting},
                {"features", features}, {"memory", memory}, {"barriers", barriers}};
  const char* asked = argc > 1 ? argv[1] : "all";
  if (strcmp(asked, "millions") == 0) millions();
  if (strcmp(asked, "crowd") == 0) crowd();
  for (unsigned i = 0; i < sizeof kModes / sizeof kModes[0]; i++)
    if (strcmp(asked, "all") == 0 || strcmp(asked, kModes[i].name) == 0) kModes[i].run();
  if (!wrong) printf("good\n");
  return wrong;
}
