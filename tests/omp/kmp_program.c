/* What compilers of libomp make other calls for than gcc: each schedule over each kind of number,
 * sections, tasks with clauses, leagues, regions with `if`, and many variables of one region. Says
 * "good", or what is wrong. */
#include <limits.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

enum { kCount = 1000 };
static int times[kCount];

static void each_once(const char* what) {
  for (int i = 0; i < kCount; i++) {
    if (times[i] != 1) {
      printf("wrong: %s: iteration %d ran %d times\n", what, i, times[i]);
      wrong = 1;
      break;
    }
  }
  memset(times, 0, sizeof times);
}

#define ALL(clause_name, clause)                                                               \
  static void clause_name(void) {                                                              \
    long sum = 0;                                                                              \
    _Pragma(clause) for (int i = 0; i < kCount; i++) times[i]++;                               \
    each_once(clause " int");                                                                  \
    _Pragma(clause) for (int i = kCount - 1; i >= 0; i--) times[i]++;                          \
    each_once(clause " int, downwards");                                                       \
    _Pragma(clause) for (unsigned i = UINT_MAX - 3 * kCount; i < UINT_MAX - 1; i += 3)         \
        times[(i - (UINT_MAX - 3 * kCount)) / 3]++;                                            \
    each_once(clause " unsigned");                                                             \
    _Pragma(clause) for (int64_t i = -7000000000; i < -7000000000 + 5 * kCount; i += 5)        \
        times[(i + 7000000000) / 5]++;                                                         \
    each_once(clause " 64 bits");                                                              \
    _Pragma(clause) for (uint64_t i = UINT64_MAX - 1; i > UINT64_MAX - 1 - 2 * kCount; i -= 2) \
        times[(UINT64_MAX - 1 - i) / 2]++;                                                     \
    each_once(clause " unsigned, 64 bits, downwards");                                         \
    _Pragma(clause) for (int i = 5; i < 5; i++) sum++;                                         \
    check(sum == 0, clause " of nothing");                                                     \
  }

ALL(loops_static, "omp parallel for")
ALL(loops_chunks, "omp parallel for schedule(static, 7)")
ALL(loops_dynamic, "omp parallel for schedule(dynamic)")
ALL(loops_dynamic_chunks, "omp parallel for schedule(monotonic : dynamic, 9)")
ALL(loops_guided, "omp parallel for schedule(guided, 4)")
ALL(loops_runtime, "omp parallel for schedule(runtime)")
ALL(loops_auto, "omp parallel for schedule(auto)")
ALL(loops_simd, "omp parallel for simd schedule(simd : static, 5)")
ALL(loops_league, "omp teams distribute parallel for num_teams(3)")
ALL(loops_distributed, "omp teams distribute num_teams(2) dist_schedule(static, 11)")

static void last_values(void) {
  int last = -1, first = 17;
#pragma omp parallel for lastprivate(last) firstprivate(first)
  for (int i = 0; i < kCount; i++) last = i + first;
  check(last == kCount - 1 + 17, "lastprivate, static");
#pragma omp parallel for lastprivate(last) schedule(dynamic, 3)
  for (int i = 0; i < kCount; i++) last = i;
  check(last == kCount - 1, "lastprivate, dynamic");
#pragma omp parallel for lastprivate(last) schedule(static, 3)
  for (int i = 0; i < kCount; i++) last = 2 * i;
  check(last == 2 * kCount - 2, "lastprivate, chunks");
}

static void in_order(void) {
  static int order[kCount];
  int next = 0;
#define ORDERED(clause)                                                                       \
  next = 0;                                                                                   \
  _Pragma(clause) for (int i = 0; i < 200; i++) { _Pragma("omp ordered") order[next++] = i; } \
  for (int i = 0; i < 200; i++) check(order[i] == i, clause);
  ORDERED("omp parallel for ordered")
  ORDERED("omp parallel for ordered schedule(static, 3)")
  ORDERED("omp parallel for ordered schedule(dynamic, 2)")
  ORDERED("omp parallel for ordered schedule(guided)")
}

static void parts(void) {
  int ran[5] = {0};
#pragma omp parallel sections
  {
#pragma omp section
    ran[0]++;
#pragma omp section
    ran[1]++;
#pragma omp section
    ran[2]++;
#pragma omp section
    ran[3]++;
#pragma omp section
    ran[4]++;
  }
  for (int i = 0; i < 5; i++) check(ran[i] == 1, "sections");
}

static void many_variables(void) {
  long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, k = 9, l = 10, m = 11, n = 12,
       o = 13, p = 14, q = 15;
  double r = 0.5, s = 0.25, t = 0;
  float u = 1.5f;
#pragma omp parallel firstprivate(a, b, c, r, u) shared(d, e, f, g, h, k, l, m, n, o, p, q, s, t)
  {
    double own = a + b + c + d + e + f + g + h + k + l + m + n + o + p + q + r + s + u;
#pragma omp critical(adding)
    t += own;
  }
  int threads = 1;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  check(t == threads * (120 + 2.25), "many variables of a region");
}

static void conditions(void) {
  int inside = 0, threads = 0, nested = 0;
#pragma omp parallel if (kCount < 0)
  inside += omp_get_num_threads();
  check(inside == 1, "parallel if, false");
#pragma omp parallel num_threads(2)
#pragma omp masked
  threads = omp_get_num_threads();
  check(threads == 2, "num_threads");
#pragma omp parallel num_threads(2)
  {
    int inner = 0;
#pragma omp parallel reduction(+ : inner)
    inner += omp_get_level() == 2;
#pragma omp atomic
    nested += inner;
  }
  check(nested == 2 || omp_get_max_active_levels() > 1, "a region within a region");
}

static void sums(void) {
  long sum = 0, product = 1, least = 1000, bits = 0;
  double real = 0;
#pragma omp parallel for reduction(+ : sum, real) reduction(* : product) reduction(min : least) reduction(| : bits)
  for (int i = 1; i <= 12; i++) {
    sum += i;
    real += i * 0.5;
    product *= i;
    if (100 - i < least) least = 100 - i;
    bits |= 1l << i;
  }
  check(sum == 78 && real == 39 && product == 479001600 && least == 88 && bits == 8190,
        "reductions");
  int table[4] = {0};
#pragma omp parallel for reduction(+ : table[:4]) schedule(dynamic)
  for (int i = 0; i < 100; i++) table[i % 4] += i;
  check(table[0] == 1200 && table[1] == 1225 && table[2] == 1250 && table[3] == 1275,
        "reduction of an array");
}

static long fibonacci(int n) {
  long a = 0, b = 0;
  if (n < 2) return n;
#pragma omp task shared(a) if (n > 8)
  a = fibonacci(n - 1);
#pragma omp task shared(b) final(n < 5)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void tasks(void) {
  long result = 0, sum = 0, last = 0;
  int chain[4] = {0}, set = 0;
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(12);
#pragma omp taskloop grainsize(7) lastprivate(last) shared(times)
    for (int i = 0; i < kCount; i++) {
      times[i]++;
      last = i;
    }
#pragma omp taskgroup task_reduction(+ : sum)
    {
      for (int i = 0; i < 50; i++)
#pragma omp task in_reduction(+ : sum) firstprivate(i)
        sum += i;
#pragma omp taskloop num_tasks(5) in_reduction(+ : sum)
      for (int i = 50; i < 100; i++) sum += i;
    }
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : chain[0]) shared(chain) firstprivate(i)
      chain[0] = chain[0] * 2 % 1009 + i;
#pragma omp task depend(in : chain[0]) depend(out : chain[1]) shared(chain)
      chain[1] += chain[0];
#pragma omp task depend(mutexinoutset : set) shared(set)
      set++;
    }
#pragma omp taskwait
  }
  check(result == 144, "tasks of tasks");
  check(last == kCount - 1, "taskloop lastprivate");
  each_once("taskloop");
  check(sum == 4950, "task reductions");
  int a = 0, b = 0;
  for (int i = 0; i < 10; i++) {
    a = a * 2 % 1009 + i;
    b += a;
  }
  check(chain[0] == a && chain[1] == b && set == 10, "dependences");
  long over = 0;
#pragma omp parallel reduction(task, + : over)
  {
#pragma omp single nowait
    for (int i = 0; i < 40; i++)
#pragma omp task in_reduction(+ : over)
      over++;
  }
  check(over == 40, "a task reduction over a region");
}

/* clang cuts each of these tasks into parts, behind the task, the taskwait and the taskyield. */
static long untied_sum(int from, int to) {
  if (to - from == 1) return from;
  long left = 0, right = 0;
  int middle = from + (to - from) / 2;
#pragma omp task untied shared(left)
  left = untied_sum(from, middle);
#pragma omp task untied shared(right)
  {
    long part = 0;
#pragma omp task untied shared(part)
    part = untied_sum(middle, to);
#pragma omp taskwait
#pragma omp taskyield
    right = part;
  }
#pragma omp taskwait
  return left + right;
}

static void untied_tasks(void) {
  long sum = 0, alone = 0;
#pragma omp parallel
#pragma omp single
  {
    sum = untied_sum(0, 200);
#pragma omp taskgroup
    for (int i = 0; i < 100; i++) {
#pragma omp task untied firstprivate(i) shared(alone)
      {
        int before = i;
#pragma omp taskyield
        times[10 * before]++;
#pragma omp task firstprivate(i)
        for (int j = 1; j < 10; j++) times[10 * i + j]++;
#pragma omp taskwait
#pragma omp atomic
        alone += before;
      }
    }
  }
  check(sum == 19900 && alone == 4950, "untied tasks");
  each_once("untied tasks");
}

static int own;
#pragma omp threadprivate(own)

static void privates(void) {
  int sum = 0, handed = 0;
  own = 5;
#pragma omp parallel copyin(own) reduction(+ : sum)
  sum += own == 5;
  check(sum == omp_get_max_threads(), "copyin");
#pragma omp parallel reduction(+ : handed)
  {
    int value;
#pragma omp single copyprivate(value)
    value = 23;
    handed += value == 23;
  }
  check(handed == omp_get_max_threads(), "copyprivate");
}

/* Functions that gcc's library does not have. */
static void hinted_locks(void) {
#ifdef __clang__
  omp_lock_t lock;
  omp_nest_lock_t nested;
  int count = 0, deep = 0, threads = 0;
  omp_init_lock_with_hint(&lock, omp_lock_hint_contended);
  omp_init_nest_lock_with_hint(&nested, omp_lock_hint_speculative);
#pragma omp parallel shared(count, deep, threads)
  {
    for (int i = 0; i < 10; i++) {
      omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
    }
    omp_set_nest_lock(&nested);
    deep += omp_test_nest_lock(&nested);
    threads++;
    omp_unset_nest_lock(&nested);
    omp_unset_nest_lock(&nested);
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nested);
  check(count == 10 * threads && deep == 2 * threads, "locks with hints");
#endif
}

int main(void) {
  loops_static();
  loops_chunks();
  loops_dynamic();
  loops_dynamic_chunks();
  loops_guided();
  loops_runtime();
  loops_auto();
  loops_simd();
  loops_league();
  loops_distributed();
  last_values();
  in_order();
  parts();
  many_variables();
  conditions();
  sums();
  tasks();
  untied_tasks();
  privates();
  hinted_locks();
  if (!wrong) printf("good\n");
  return wrong;
}
