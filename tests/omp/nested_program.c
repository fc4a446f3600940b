/* Regions within regions, whose teams are threads of the node of the thread that begins them. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 16, kInner = 3, kCount = 1000 };

static int wrong = 0;

static void expect(int good, const char* what) {
  if (good) return;
#pragma omp critical(say)
  {
    printf("wrong: %s\n", what);
    wrong++;
  }
}

/* What each inner thread writes is seen by its master, and behind the outer region by main. */
static void teams(void) {
  static int cells[kMost][kInner];
  static pid_t nodes[kMost][kInner];
  int outer = 0;
  memset(cells, 0, sizeof cells);
#pragma omp parallel
  {
    int me = omp_get_thread_num(), sum = 0;
#pragma omp single
    outer = omp_get_num_threads();
#pragma omp parallel num_threads(kInner)
    {
      int own = omp_get_thread_num();
      expect(omp_get_num_threads() == kInner && omp_in_parallel(), "an inner team");
      expect(omp_get_level() == 2 && omp_get_ancestor_thread_num(1) == me, "its ancestor");
      expect(omp_get_ancestor_thread_num(2) == own && omp_get_ancestor_thread_num(0) == 0, "0, 2");
      expect(omp_get_ancestor_thread_num(3) == -1 && omp_get_team_size(3) == -1, "no level");
      expect(omp_get_team_size(1) == outer && omp_get_team_size(2) == kInner, "sizes of teams");
      expect(omp_get_active_level() == (outer > 1 ? 2 : 1), "active levels");
      cells[me][own] = 10 * me + own + 1;
      nodes[me][own] = getpid();
#pragma omp barrier
      if (own == 0)
        for (int i = 0; i < kInner; i++) expect(cells[me][i] == 10 * me + i + 1, "a barrier");
    }
    for (int i = 0; i < kInner; i++) sum += cells[me][i];
    expect(sum == 30 * me + 6, "what inner threads wrote");
    expect(omp_get_level() == 1 && omp_get_thread_num() == me, "behind the inner region");
  }
  for (int i = 0; i < outer; i++)
    for (int j = 0; j < kInner; j++) {
      expect(cells[i][j] == 10 * i + j + 1, "what inner threads of all nodes wrote");
      expect(nodes[i][j] == nodes[i][0], "a team on one node");
    }
}

/* Three levels: each thread of the second one begins its own region. */
static void depth(void) {
  int threads = 0, outer = 0;
#pragma omp parallel reduction(+ : threads, outer)
  {
    outer++;
#pragma omp parallel num_threads(2) reduction(+ : threads)
#pragma omp parallel num_threads(kInner) reduction(+ : threads)
    {
      threads++;
      expect(omp_get_level() == 3 && omp_get_team_size(2) == 2, "level 3");
      expect(omp_get_ancestor_thread_num(2) < 2 && omp_get_num_threads() == kInner, "its team");
#pragma omp parallel num_threads(1)
      expect(omp_get_level() == 4 && omp_get_num_threads() == 1, "level 4 of one thread");
    }
  }
  expect(threads == outer * 2 * kInner, "threads of three levels");
  /* A limit that a construct gives is that of its own team, on whichever node. */
#pragma omp parallel
#pragma omp target if (0)
#pragma omp teams thread_limit(2)
#pragma omp parallel num_threads(3)
  expect(omp_get_num_threads() == 2, "the limit of teams");
}

/* Sizes that change, many regions, and inner regions of some threads only. */
static void reuse(void) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int i = 0; i < 200; i++) {
    int size = 1 + (i + omp_get_thread_num()) % 4;
    if (i % 5 == omp_get_thread_num()) continue;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    sum++;
    sum -= size;
  }
  expect(sum == 0, "teams of changing sizes");
}

/* Loops of a schedule, several on end without a barrier. */
static void share(omp_sched_t kind, int chunk) {
  static int seen[kMost][kCount];
  memset(seen, 0, sizeof seen);
  omp_set_schedule(kind, chunk);
  int outer = omp_get_max_threads();
#pragma omp parallel
  {
    int* mine = seen[omp_get_thread_num()];
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(kInner)
      for (int again = 0; again < 30; again++) {
#pragma omp for schedule(runtime) nowait
        for (int i = 0; i < kCount; i += 10)
#pragma omp atomic
          mine[i]++;
      }
    }
  }
  for (int t = 0; t < outer; t++)
    for (int i = 0; i < kCount; i++)
      expect(seen[t][i] == (i % 10 == 0 ? 90 : 0), "iterations of inner loops");
}

static void loops(void) {
  share(omp_sched_static, 0);
  share(omp_sched_static, 7);
  share(omp_sched_dynamic, 3);
  share(omp_sched_guided, 2);
  share(omp_sched_auto, 0);
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    unsigned long long own = 0;
#pragma omp parallel for num_threads(kInner) schedule(dynamic, 5) reduction(+ : own)
    for (unsigned long long i = 1; i <= kCount; i++) own += i;
    expect(own == kCount * (kCount + 1ull) / 2, "a parallel loop");
    /* An outer loop whose body has inner ones. */
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 20; i++) {
      int part = 0;
#pragma omp parallel for num_threads(kInner) schedule(guided) reduction(+ : part)
      for (int j = 0; j < 50; j++) part += i;
      sum += part;
    }
  }
  expect(sum == 50 * 190, "inner loops within an outer one");
}

static void order(void) {
#pragma omp parallel
  {
    int next = 0, good = 1;
#pragma omp parallel for num_threads(kInner) ordered schedule(dynamic, 2)
    for (int i = 0; i < 100; i++) {
#pragma omp ordered
      good &= next++ == i;
    }
    expect(good && next == 100, "ordered");
    enum { kRows = 12, kColumns = 9 };
    int cell[kRows][kColumns] = {{0}};
#pragma omp parallel num_threads(kInner)
    for (int round = 0; round < 2; round++) {
#pragma omp for ordered(2)
      for (int i = 0; i < kRows; i++)
        for (int j = 0; j < kColumns; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          int above = i > 0 ? cell[i - 1][j] : 0, left = j > 0 ? cell[i][j - 1] : 0;
          cell[i][j] = 1 + (above > left ? above : left);
#pragma omp ordered depend(source)
        }
    }
    expect(cell[kRows - 1][kColumns - 1] == kRows + kColumns - 1, "doacross");
  }
  /* A doacross loop whose iterations have doacross loops within. */
  static int sums[8];
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < 8; i++) {
    int last = 0;
#pragma omp parallel for num_threads(2) ordered(1) schedule(static, 1) shared(last)
    for (int j = 0; j < 6; j++) {
#pragma omp ordered depend(sink : j - 1)
      last += j;
#pragma omp ordered depend(source)
    }
#pragma omp ordered depend(sink : i - 1)
    sums[i] = last + (i > 0 ? sums[i - 1] : 0);
#pragma omp ordered depend(source)
  }
  expect(sums[7] == 8 * 15, "doacross within doacross");
}

static int own_copy = 5;
#pragma omp threadprivate(own_copy)

static void once(void) {
#pragma omp parallel
  {
    int times = 0, parts = 0, me = omp_get_thread_num();
    int outer_value = 0;
#pragma omp single copyprivate(outer_value)
    outer_value = 77;
#pragma omp parallel num_threads(kInner)
    {
      for (int i = 0; i < 100; i++) {
#pragma omp single nowait
#pragma omp atomic
        times++;
      }
      int value = -1;
#pragma omp single copyprivate(value)
      value = 100 * me + 7;
      expect(value == 100 * me + 7, "copyprivate");
#pragma omp single copyprivate(own_copy)
      own_copy = 1000 + me;
      expect(own_copy == 1000 + me, "copyprivate of a threadprivate variable");
#pragma omp sections reduction(+ : parts)
      {
#pragma omp section
        parts += 1;
#pragma omp section
        parts += 10;
#pragma omp section
        parts += 100;
#pragma omp section
        parts += 1000;
      }
    }
    expect(outer_value == 77 && times == 100 && parts == 1111, "single and sections");
  }
}

static void exclusion(void) {
  int sum = 0, outer = 0;
  double real = 1;
  static omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  {
    int most = 0;
    double product = 1;
#pragma omp atomic
    outer++;
#pragma omp parallel num_threads(kInner) reduction(max : most) reduction(* : product)
    {
      for (int i = 0; i < 20; i++) {
#pragma omp critical
        sum++;
        omp_set_lock(&lock);
        real += 1;
        omp_unset_lock(&lock);
      }
      most = omp_get_thread_num();
      product *= 2;
    }
    expect(most == kInner - 1 && product == 8, "reductions");
  }
  expect(sum == 20 * kInner * outer && real == 1 + sum, "critical sections and locks of all");
}

static int fibonacci(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void tasks(void) {
#pragma omp parallel
  {
    int got = 0, done = 0, in_group = 0, loop = 0, reduced = 0, me = omp_get_thread_num();
    /* Tasks of the outer team, which only its threads may run. */
    for (int i = 0; i < 8; i++) {
#pragma omp task
      expect(omp_get_level() == 1, "a task of the outer team");
    }
#pragma omp parallel num_threads(kInner) shared(got, done, in_group, loop, reduced)
    {
#pragma omp single
      {
        got = fibonacci(12);
        for (int i = 0; i < 100; i++) {
#pragma omp task
          {
            expect(omp_get_level() == 2 && omp_get_ancestor_thread_num(1) == me, "an inner task");
#pragma omp atomic
            done++;
          }
        }
#pragma omp taskgroup
        {
#pragma omp task
#pragma omp task
#pragma omp atomic
          in_group++;
        }
        expect(in_group == 1, "taskgroup");
#pragma omp taskloop grainsize(4)
        for (int i = 0; i < 64; i++) {
#pragma omp atomic
          loop++;
        }
#pragma omp taskgroup task_reduction(+ : reduced)
        for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : reduced)
          reduced += i;
        }
      }
      expect(done == 100, "tasks end at a barrier");
    }
    expect(got == 144 && loop == 64 && reduced == 45, "tasks of the inner team");
    /* A region within a task. */
    int within = 0;
#pragma omp task shared(within)
#pragma omp parallel num_threads(2) reduction(+ : within)
    within++;
#pragma omp taskwait
    expect(within == 2, "a region within a task");
  }
#pragma omp parallel
  {
    int sum = 0;
#pragma omp parallel num_threads(kInner) reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
      sum += 1;
    }
    expect(sum == kInner, "task reductions over a region");
  }
}

static int private_sum = 0;
#pragma omp threadprivate(private_sum)

static void privates(void) {
#pragma omp parallel
  {
    private_sum = 1 + omp_get_thread_num();
    int before = private_sum;
#pragma omp parallel num_threads(kInner) copyin(private_sum)
    {
      expect(private_sum == before, "copyin within");
      private_sum += 100 * (1 + omp_get_thread_num());
    }
    expect(private_sum == before + 100, "the master of the inner team has its variable");
  }
}

static void* thread(void* result) {
  int count = 0;
#pragma omp parallel num_threads(2) reduction(+ : count)
  count += omp_get_level();
  *(int*)result = count;
  return NULL;
}

/* Threads of the program's own have teams, too. */
static void threads(void) {
  pthread_t all[4];
  int results[4];
  for (int i = 0; i < 4; i++) pthread_create(&all[i], NULL, thread, &results[i]);
  for (int i = 0; i < 4; i++) {
    pthread_join(all[i], NULL);
    expect(results[i] == 2, "a team of a thread of the program");
  }
}

/* Control variables of each level. */
static void variables(void) {
  omp_set_max_active_levels(1);
  expect(!omp_get_nested(), "nested is off");
#pragma omp parallel
  {
    int size = 0;
#pragma omp parallel num_threads(kInner)
#pragma omp single
    size = omp_get_num_threads();
    expect(size == (omp_get_num_threads() > 1 ? 1 : kInner), "one active level");
    omp_set_max_active_levels(2);
    omp_set_num_threads(2);
    int inner = 0;
#pragma omp parallel
    {
#pragma omp single
      inner = omp_get_num_threads();
      omp_set_num_threads(5);
    }
    expect(inner == 2 && omp_get_max_threads() == 2, "num_threads of a level");
  }
  omp_set_nested(1);
  expect(omp_get_nested() && omp_get_max_active_levels() == omp_get_supported_active_levels(),
         "on");
  omp_set_nested(0);
  expect(omp_get_max_active_levels() == 1, "off");
  omp_set_max_active_levels(3);
}

/* Where OMP_PROC_BIND binds threads: an inner team has a part of its master's places, in which each
 * of its threads is, and the master is where it was afterwards. */
static void places(void) {
#pragma omp parallel
  {
    int place = omp_get_place_num(), count = omp_get_partition_num_places(), all[1024];
    omp_get_partition_place_nums(all);
    expect(place >= 0 && count <= 1024, "a bound thread");
#pragma omp parallel num_threads(kInner)
    {
      int own = omp_get_place_num(), part = omp_get_partition_num_places(), found = 0;
      for (int i = 0; i < count; i++) found += all[i] == own;
      expect(found == 1 && part >= 1 && part <= count, "a place of the master's");
      if (omp_get_proc_bind() == omp_proc_bind_master) expect(own == place, "with the master");
    }
    expect(omp_get_place_num() == place && omp_get_partition_num_places() == count, "the seat");
  }
}

/* Prints how large teams are: OMP_NUM_THREADS=2,3 and others. */
static void show(void) {
  int size[3] = {1, 1, 1};
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      size[0] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
      {
        size[1] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
        size[2] = omp_get_num_threads();
      }
    }
#pragma omp barrier
  }
  printf("sizes %d %d %d levels %d\n", size[0], size[1], size[2], omp_get_max_active_levels());
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    void (*run)(void);
  } modes[] = {{"teams", teams},         {"depth", depth},        {"reuse", reuse},
               {"loops", loops},         {"order", order},        {"once", once},
               {"exclusion", exclusion}, {"tasks", tasks},        {"privates", privates},
               {"threads", threads},     {"variables", variables}};
  if (argc > 1 && strcmp(argv[1], "show") == 0) {
    show();
  } else if (argc > 1 && strcmp(argv[1], "places") == 0) {
    places();
  } else {
    omp_set_max_active_levels(3);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
      if (argc == 1 || strcmp(argv[1], modes[i].name) == 0) modes[i].run();
  }
  printf(wrong ? "%d wrong\n" : "good\n", wrong);
  return wrong != 0;
}
