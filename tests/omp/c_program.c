/* An OpenMP program that knows nothing of Terrane. Each mode prints "good" where all results are
 * right, for any number of threads. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000

static int results[COUNT];
static int wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

static void clear(void) { memset(results, 0, sizeof results); }

static void check_results(const char* what) {
  for (int i = 0; i < COUNT; i++) expect(results[i] == 3 * i + 1, what);
  clear();
}

static void loops(void) {
  clear();
#pragma omp parallel for
  for (int i = 0; i < COUNT; i++) results[i] += 3 * i + 1;
  check_results("static");
#pragma omp parallel for schedule(static, 7)
  for (int i = 0; i < COUNT; i++) results[i] += 3 * i + 1;
  check_results("static, 7");
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < COUNT; i++) results[i] += 3 * i + 1;
  check_results("dynamic");
#pragma omp parallel for schedule(monotonic : dynamic, 13)
  for (int i = COUNT - 1; i >= 0; i--) results[i] += 3 * i + 1;
  check_results("dynamic, 13, downwards");
#pragma omp parallel for schedule(guided, 4)
  for (int i = 0; i < COUNT; i++) results[i] += 3 * i + 1;
  check_results("guided");
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < COUNT; i++) results[i] += 3 * i + 1;
  check_results("runtime");
#pragma omp parallel for schedule(dynamic, 3)
  for (unsigned long long i = 0; i < COUNT; i++) results[i] += 3 * (int)i + 1;
  check_results("unsigned, dynamic");
#pragma omp parallel
  {
    for (int round = 0; round < 100; round++) {
#pragma omp for schedule(dynamic, 50) nowait
      for (int i = 0; i < COUNT; i++) {
#pragma omp atomic
        results[i] += round == 0 ? 3 * i + 1 : 0;
      }
    }
  }
  check_results("a hundred loops without a barrier");
  int last = 0;
#pragma omp parallel for lastprivate(last) schedule(dynamic, 9)
  for (int i = 0; i < COUNT; i++) last = i;
  expect(last == COUNT - 1, "lastprivate");
#pragma omp parallel for schedule(dynamic)
  for (int i = 5; i < 5; i++) results[i]++;
  for (int i = 0; i < COUNT; i++) expect(results[i] == 0, "an empty loop");
}

static void reductions(void) {
  double sum = 0;
  long product = 1, count = 0;
  int most = 0, sums[10] = {0};
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < COUNT; i++) sum += i;
  expect(sum == COUNT * (COUNT - 1) / 2, "a sum of doubles");
#pragma omp parallel for reduction(+ : count, sums) reduction(max : most) reduction(* : product)
  for (int i = 0; i < COUNT; i++) {
    count++;
    sums[i % 10] += i;
    if (i > most) most = i;
    if (i < 10) product *= 2;
  }
  expect(count == COUNT && most == COUNT - 1 && product == 1024, "several reductions");
  for (int i = 0; i < 10; i++) expect(sums[i] == 49500 + 100 * i, "a reduction of an array");
}

static void exclusion(void) {
  static long total;
  static int named;
  int threads = 0, count = 0;
  float product = 1;
  total = 0;
#pragma omp parallel
  {
#pragma omp critical
    threads++;
    for (int i = 0; i < 100; i++) {
#pragma omp critical(other)
      named++;
#pragma omp atomic
      total += 2;
#pragma omp atomic update
      count += 1;
    }
#pragma omp atomic
    product *= 2;
  }
  float wanted = 1;
  for (int i = 0; i < threads; i++) wanted *= 2;
  expect(named == 100 * threads && total == 200 * threads && count == 100 * threads, "critical");
  expect(product == wanted, "an atomic of floats");
}

// An atomic operation that gcc makes by a lock, within critical: that is another lock. clang calls
// libatomic.
static void atomic_in_critical(void) {
#ifndef __clang__
  enum { kTurns = 200, kPause = 20000 };
  static volatile int count;
  static long double sum;
  count = 0, sum = 0;
#pragma omp parallel
  for (int turn = 0; turn < kTurns; turn++) {
#pragma omp critical
    {
      int seen = count;
#pragma omp atomic
      sum += 1.0L;
      for (volatile int i = 0; i < kPause; i++) continue;
      count = seen + 1;
    }
  }
  int threads = omp_get_max_threads();
  expect(count == kTurns * threads && sum == (long double)kTurns * threads, "atomic in critical");
#endif
}

static void once(void) {
  int singles = 0, masters = 0, seen = 0, threads = 0, sections = 0;
#pragma omp parallel
  {
    int handed[20];
    memset(handed, 0, sizeof handed);
    for (int i = 0; i < 100; i++) {
#pragma omp single nowait
      {
#pragma omp atomic
        singles++;
      }
    }
#pragma omp barrier
#pragma omp master
    masters++;
    int value;
#pragma omp single copyprivate(value, handed)
    {
      value = 17;
      for (int i = 0; i < 20; i++) handed[i] = i;
      threads = omp_get_num_threads();
    }
#pragma omp atomic
    seen += value == 17 && handed[19] == 19 ? 1 : 0;
#pragma omp sections reduction(+ : sections)
    {
#pragma omp section
      sections += 1;
#pragma omp section
      sections += 10;
#pragma omp section
      sections += 100;
    }
  }
  expect(singles == 100 && masters == 1, "single and master");
  expect(seen == threads, "copyprivate");
  expect(sections == 111, "sections");
#pragma omp parallel sections
  {
#pragma omp section
    singles = 1;
#pragma omp section
    masters = 2;
  }
  expect(singles == 1 && masters == 2, "parallel sections");
}

static void order(void) {
  static int list[3 * COUNT];
  int length = 0;
#pragma omp parallel for ordered schedule(dynamic, 3)
  for (int i = 0; i < 200; i++) {
#pragma omp ordered
    list[length++] = i;
  }
#pragma omp parallel for ordered schedule(static)
  for (int i = 0; i < 200; i++) {
#pragma omp ordered
    list[length++] = 200 + i;
  }
#pragma omp parallel for ordered schedule(guided)
  for (int i = 0; i < 200; i++) {
    if (i % 3 == 0) continue;
#pragma omp ordered
    list[length++] = 400 + i;
  }
  for (int i = 0; i < 400; i++) expect(list[i] == i, "ordered");
  expect(length == 533, "ordered in some iterations");
  for (int i = 401; i < length; i++) expect(list[i] > list[i - 1], "ordered, guided");
}

static void teams(void) {
  int most = omp_get_max_threads(), sum = 0, inner = 0, levels = 0;
  for (int size = most; size > 0; size--) {
    int threads = 0, numbers = 0;
#pragma omp parallel num_threads(size) reduction(+ : numbers)
    {
#pragma omp single
      threads = omp_get_num_threads();
      numbers += omp_get_thread_num();
#pragma omp barrier
    }
    expect(threads == size && numbers == size * (size - 1) / 2, "a team of another size");
  }
  omp_set_num_threads(most + 3);
#pragma omp parallel reduction(+ : sum, inner, levels)
  {
    sum++;
#pragma omp parallel num_threads(4) reduction(+ : inner)
    {
      inner++;
      levels = omp_get_level();
    }
  }
  expect(sum == most + 3 && inner == sum && levels == 2 * sum, "a larger team, and nested regions");
  expect(omp_get_level() == 0 && !omp_in_parallel() && omp_get_num_threads() == 1, "outside");
#pragma omp parallel if (0)
  expect(omp_get_num_threads() == 1, "if");
}

/* The first thread sees what the others did in a region, and they what it changed before the next
 * one; the same region several times on end, or two in turn. */
static void between_regions(void) {
  enum { kRounds = 120 };
  static long cells[64][kRounds];
  int most = omp_get_max_threads();
  if (most > 64) most = 64;
  for (int round = 0; round < kRounds; round++) {
    int times = 1 + round % 3, good = 0;
    for (int i = 0; i < times; i++) {
#pragma omp parallel num_threads(most)
      cells[omp_get_thread_num()][round] += round + omp_get_thread_num();
    }
    for (int t = 0; t < most; t++) {
      expect(cells[t][round] == times * (round + t), "what a region wrote, after it");
      if (round % 4 != 0) cells[t][round] = -t;
    }
    if (round % 5 == 0) continue;
#pragma omp parallel num_threads(most) reduction(+ : good)
    for (int t = 0; t < most; t++)
      good += cells[t][round] == (round % 4 != 0 ? -t : times * (round + t));
    expect(good == most * most, "what the first thread wrote, in the next region");
  }
}

/* A tree of tasks that wait for their own children alone. */
static long tree(int depth) {
  long below[3] = {0, 0, 0};
  if (depth == 0) return 1;
  for (int i = 0; i < 3; i++) {
#pragma omp task shared(below) firstprivate(i) if (i != 1)
    below[i] = tree(depth - 1);
  }
#pragma omp taskwait
  return 1 + below[0] + below[1] + below[2];
}

static int fib(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static void tasks(void) {
  int found = 0, order_kept = 0, first = 0;
#pragma omp parallel
#pragma omp single
  {
    found = fib(15);
#pragma omp task depend(out : first)
    first = 1;
#pragma omp task depend(in : first)
    order_kept = first;
#pragma omp taskgroup
    {
#pragma omp taskloop num_tasks(7)
      for (int i = 0; i < COUNT; i++) results[i] += 3 * i + 1;
    }
  }
  expect(found == 610 && order_kept == 1, "tasks");
  check_results("taskloop");
  long nodes = 0, done = 0, after_group = 0, before_barrier = 0;
#pragma omp parallel
  {
#pragma omp single nowait
    nodes = tree(8);
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 300; i++) {
#pragma omp task shared(done)
      {
#pragma omp task shared(done)
        {
#pragma omp atomic
          done++;
        }
      }
    }
#pragma omp master
    after_group = done;
    for (int i = 0; i < 200; i++) {
#pragma omp task
      {
#pragma omp atomic
        before_barrier++;
      }
    }
#pragma omp barrier
#pragma omp single
    expect(before_barrier == 200 * omp_get_num_threads(), "tasks end at a barrier");
  }
  expect(nodes == 9841 && after_group == 300, "trees of tasks");
}

static int counter, array[5000];
static struct {
  double values[10];
  const char* name;
} object;
#pragma omp threadprivate(counter, array, object)

static void privates(void) {
  int kept = 0, copied = 0, threads = 0;
  for (int round = 1; round < 4; round++) {
    for (int i = 0; i < 5000; i++) array[i] = round * i;
    for (int i = 0; i < 10; i++) object.values[i] = round + i;
    object.name = "name";
    counter = 100 * round;
    copied = threads = 0;
#pragma omp parallel copyin(array, object, counter) reduction(+ : copied, threads)
    {
      int good = counter == 100 * round && strcmp(object.name, "name") == 0;
      for (int i = 0; i < 5000; i++) good = good && array[i] == round * i;
      for (int i = 0; i < 10; i++) good = good && object.values[i] == round + i;
      copied += good;
      threads++;
      counter += omp_get_thread_num();
      array[7] = omp_get_thread_num();
    }
    expect(copied == threads, "copyin");
    kept = 0;
#pragma omp parallel reduction(+ : kept)
    kept += counter == 100 * round + omp_get_thread_num() && array[7] == omp_get_thread_num();
    expect(kept == threads, "threadprivate");
  }
}

static void locks(void) {
  static omp_lock_t lock;
  static omp_nest_lock_t nested;
  int sum = 0, deep = 0, threads = 0, failed = 0;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nested);
#pragma omp parallel
  {
    for (int i = 0; i < 50; i++) {
      omp_set_lock(&lock);
      sum++;
      omp_unset_lock(&lock);
      while (!omp_test_lock(&lock)) {
      }
      sum++;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nested);
      if (omp_test_nest_lock(&nested) != 2) failed = 1;
      deep++;
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
    }
#pragma omp atomic
    threads++;
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nested);
  expect(sum == 100 * threads && deep == 50 * threads && !failed, "locks");
}

static void barriers(void) {
  static int step[64];
  int late = 0;
#pragma omp parallel num_threads(4) reduction(+ : late)
  {
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    for (int round = 1; round < 200; round++) {
      step[me] = round;
#pragma omp barrier
      for (int i = 0; i < threads; i++) late += step[i] != round;
#pragma omp barrier
    }
  }
  expect(late == 0, "barriers");
}

/* Each thread waits for a variable of the thread before it, as a pipeline does. The doubles around
 * a flush live in registers that the flush must keep. */
static void flushes(void) {
  static int ready[64], passed[64];
  static double sums[64];
  int good = 1;
#pragma omp parallel num_threads(4) reduction(&& : good)
  {
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    double a = me + 0.5, b = 2 * a, c = 3 * a;
    for (int round = 1; round <= 20; round++) {
      while (me > 0 && ready[me - 1] < round) {
#pragma omp flush
        a += 1e-9, b += 1e-9, c += 1e-9;
      }
#pragma omp flush
      good = good && (me == 0 || passed[me - 1] >= round);
      passed[me] = round;
#pragma omp flush
      ready[me] = round;
#pragma omp flush
    }
    sums[me] = a - (me + 0.5) < 1 && b - 2 * (me + 0.5) < 1 && c - 3 * (me + 0.5) < 1;
#pragma omp barrier
    good = good && sums[threads - 1 - me] == 1;
  }
  expect(good, "flush");
}

/* More than a thread's stack usually has. */
static void large_privates(void) {
  static double values[300000];
#pragma omp threadprivate(values)
  double sum = 0;
  int threads = 0;
#pragma omp parallel reduction(+ : sum, threads)
  {
    values[299999] = 2;
    sum += values[299999];
    threads++;
  }
  expect(sum == 2 * threads, "large threadprivate variables");
}

static void heap(void) {
  int* made[64] = {0};
  int sum = 0, threads = 0;
#pragma omp parallel
  {
    int me = omp_get_thread_num();
    made[me] = malloc(sizeof(int));
    *made[me] = me;
#pragma omp single
    threads = omp_get_num_threads();
  }
  for (int i = 0; i < threads; i++) {
    sum += *made[i];
    free(made[i]);
  }
  expect(sum == threads * (threads - 1) / 2, "memory that a worker has allocated");
}

static void devices(void) {
  int a[10] = {0}, b = 5;
#pragma omp target map(tofrom : a) firstprivate(b)
  {
    for (int i = 0; i < 10; i++) a[i] = b + i;
    b = 0;
  }
#pragma omp target teams distribute parallel for map(tofrom : a)
  for (int i = 0; i < 10; i++) a[i] *= 2;
  for (int i = 0; i < 10; i++) expect(a[i] == 2 * (5 + i) && b == 5, "target on the host");
}

static void show(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("threads %d schedule %d,%d limit %d\n", omp_get_max_threads(), (int)kind, chunk,
         omp_get_thread_limit());
}

/* Each element is made of those before it, in several orders of the iterations. */
#define ROWS 11
#define COLUMNS 5
static long grid[ROWS][COLUMNS], wanted_grid[ROWS][COLUMNS];

static void check_grid(const char* what) {
  expect(memcmp(grid, wanted_grid, sizeof grid) == 0, what);
  memset(grid, 0, sizeof grid);
}

static void doacross(void) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      wanted_grid[i][j] = 1 + (i ? wanted_grid[i - 1][j] : i) % 1000003 +
                          2 * (j ? wanted_grid[i][j - 1] : j) % 1000003;
#define STEP \
  grid[i][j] = 1 + (i ? grid[i - 1][j] : i) % 1000003 + 2 * (j ? grid[i][j - 1] : j) % 1000003
#pragma omp parallel for ordered(2)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      STEP;
#pragma omp ordered depend(source)
    }
  check_grid("doacross, static");
#pragma omp parallel
  for (int round = 0; round < 3; round++) {
#pragma omp for ordered(2) schedule(dynamic, 2) nowait
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
        if (round == 0) STEP;
#pragma omp ordered depend(source)
      }
  }
  check_grid("doacross, dynamic, three times");
#pragma omp parallel for ordered(2) schedule(guided) num_threads(3)
  for (unsigned long long i = 0; i < ROWS; i++)
    for (unsigned long long j = 0; j < COLUMNS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      STEP;
#pragma omp ordered depend(source)
    }
  check_grid("doacross, guided, unsigned");
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = ROWS - 1; i >= 0; i--) {
#pragma omp ordered depend(sink : i + 2)
    results[i] = i + 2 < ROWS ? results[i + 2] + 1 : 1;
#pragma omp ordered depend(source)
  }
  for (int i = 0; i < ROWS; i++) expect(results[i] == (ROWS - i + 1) / 2, "doacross, downwards");
  clear();
}

static void task_reductions(void) {
  long sum = 0, product = 1, loop = 0, parts[3] = {0};
  int most = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum, parts) task_reduction(* : product)
    {
      for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : sum, parts) in_reduction(* : product)
        {
          sum += i;
          parts[i % 3]++;
          if (i < 10) product *= 2;
#pragma omp task in_reduction(+ : sum)
          sum += 100;
        }
      }
    }
#pragma omp taskloop reduction(+ : loop) reduction(max : most)
    for (int i = 0; i < 100; i++) {
      loop += i;
      if (i > most) most = i;
    }
  }
  expect(sum == 435 + 3000 && product == 1024 && parts[1] == 10, "taskgroup task_reduction");
  expect(loop == 4950 && most == 99, "a reduction over a taskloop");
  sum = loop = 0;
  int threads = 0;
#pragma omp parallel reduction(task, + : sum) reduction(+ : threads)
  {
    threads++;
    sum++;
#pragma omp task in_reduction(+ : sum)
    sum += 10;
  }
  expect(sum == 11 * threads, "a task reduction over a region");
#pragma omp parallel
  for (int round = 0; round < 3; round++) {
#pragma omp for reduction(task, + : loop)
    for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : loop)
      loop += i;
    }
#pragma omp sections reduction(task, + : parts)
    {
#pragma omp section
#pragma omp task in_reduction(+ : parts)
      parts[0]++;
#pragma omp section
#pragma omp task in_reduction(+ : parts)
      parts[2] += 5;
    }
  }
  expect(loop == 3 * 4950, "task reductions over loops");
  expect(parts[0] == 13 && parts[1] == 10 && parts[2] == 25, "task reductions over sections");
}

static void copied_privates(void) {
  int copied = 0, threads = 0;
  for (int round = 0; round < 3; round++) {
    copied = threads = 0;
#pragma omp parallel reduction(+ : copied, threads)
    {
      int own = -1;
#pragma omp single copyprivate(array, object, counter, own)
      {
        for (int i = 0; i < 5000; i++) array[i] = 7 * i + round;
        object.values[9] = 4.5 + round;
        object.name = "handed on";
        counter = own = 11 + round;
      }
      int good = counter == 11 + round && own == counter && object.values[9] == 4.5 + round &&
                 strcmp(object.name, "handed on") == 0;
      for (int i = 0; i < 5000; i++) good = good && array[i] == 7 * i + round;
      copied += good;
      threads++;
    }
    expect(copied == threads, "copyprivate of threadprivate variables");
  }
}

/* A worker of another node writes to the master's variable: that cannot have an effect. */
static void written_private(void) {
  int* of_master = &counter;
  counter = 5;
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) *of_master = 6;
  expect(counter == 6, "a write by a pointer");
}

/* Tasks that end when an event is fulfilled, by another task or by another thread. */
static void events(void) {
  int first = 0, second = 0, seen = 0;
  omp_event_handle_t event;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : first) detach(event)
    first = 1;
#pragma omp task
    {
      second = 2;
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : first)
    seen = first + second;
#pragma omp taskwait
  }
  expect(seen == 3, "detach");
}

static void leagues(void) {
  int teams = 0, iterations[100] = {0};
#pragma omp teams num_teams(3) reduction(+ : teams)
  {
    if (omp_get_num_teams() == 3) teams += 1 + omp_get_team_num();
#pragma omp distribute parallel for
    for (int i = 0; i < 100; i++) iterations[i]++;
  }
  expect(teams == 6 && omp_get_num_teams() == 1, "teams");
  for (int i = 0; i < 100; i++) expect(iterations[i] == 1, "distribute");
}

static void affinity(void) {
  char text[64];
  omp_set_affinity_format("%0.3n of %{num_threads}|%%|%5L|");
  expect(omp_capture_affinity(text, sizeof text, NULL) == 17, "capture_affinity");
  expect(strcmp(text, "000 of 1|%|0    |") == 0, text);
  expect(omp_get_affinity_format(text, 5) == 31 && strcmp(text, "%0.3") == 0, "the format");
}

static _Alignas(4096) int neighbours[1024];

/* Threads write to one page: the report of regions names it. */
static void share_a_page(void) {
  for (int round = 0; round < 20; round++) {
#pragma omp parallel
    neighbours[omp_get_thread_num()]++;
  }
  for (int i = 0; i < omp_get_max_threads(); i++) expect(neighbours[i] == 20, "neighbours");
}

static void exit_in_region(void) {
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_thread_num() == 0) exit(0);
#pragma omp barrier
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kModes[] = {{"loops", loops},
                {"reductions", reductions},
                {"exclusion", exclusion},
                {"atomic_in_critical", atomic_in_critical},
                {"once", once},
                {"order", order},
                {"teams", teams},
                {"between_regions", between_regions},
                {"tasks", tasks},
                {"privates", privates},
                {"locks", locks},
                {"barriers", barriers},
                {"flushes", flushes},
                {"large_privates", large_privates},
                {"heap", heap},
                {"devices", devices},
                {"doacross", doacross},
                {"task_reductions", task_reductions},
                {"copied_privates", copied_privates},
                {"events", events},
                {"leagues", leagues},
                {"affinity", affinity},
                {"share_a_page", share_a_page}};
  const char* asked = argc > 1 ? argv[1] : "all";
  if (strcmp(asked, "show") == 0) show();
  if (strcmp(asked, "written_private") == 0) written_private();
  if (strcmp(asked, "exit_in_region") == 0) exit_in_region();
  for (unsigned i = 0; i < sizeof kModes / sizeof kModes[0]; i++)
    if (strcmp(asked, "all") == 0 || strcmp(asked, kModes[i].name) == 0) kModes[i].run();
  if (!wrong) printf("good\n");
  return wrong;
}
