/* What OpenMP's variables of the environment say of places, in a program that knows nothing of
 * Terrane. It prints what it finds, and "good" where that agrees. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static int wrong, places[MOST], processors[MOST], first_processor[MOST], formats[MOST];

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

static int processors_of_thread(int* first) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  *first = 0;
  while (*first < CPU_SETSIZE && !CPU_ISSET(*first, &set)) ++*first;
  return CPU_COUNT(&set);
}

/* Each thread runs on the processors of its place alone. */
static void bound(void) {
  int threads = 0;
#pragma omp parallel shared(threads)
  {
    int me = omp_get_thread_num();
    places[me] = omp_get_place_num();
    processors[me] = processors_of_thread(&first_processor[me]);
#pragma omp master
    threads = omp_get_num_threads();
  }
  expect(omp_get_num_places() > 0, "there are places");
  for (int i = 0; i < threads; i++) {
    int ids[CPU_SETSIZE];
    expect(places[i] >= 0 && places[i] < omp_get_num_places(), "the number of a place");
    expect(omp_get_place_num_procs(places[i]) == processors[i], "the processors of a place");
    omp_get_place_proc_ids(places[i], ids);
    expect(ids[0] == first_processor[i], "the first processor of a place");
    printf("place %d\n", places[i]);
  }
}

static void unbound(void) {
  int all = 0, first = 0;
  all = processors_of_thread(&first);
#pragma omp parallel reduction(+ : wrong)
  wrong += omp_get_place_num() != -1 || processors_of_thread(&first) != all;
  expect(omp_get_num_places() == 0 && omp_get_proc_bind() == omp_proc_bind_false, "no places");
}

/* The format that one thread sets is that of all. */
static void format(void) {
#pragma omp parallel
  {
    char text[64];
#pragma omp single
    omp_set_affinity_format("team of %N");
    omp_get_affinity_format(text, sizeof text);
    formats[omp_get_thread_num()] = strcmp(text, "team of %N") == 0;
    omp_capture_affinity(text, sizeof text, NULL);
    formats[omp_get_thread_num()] += atoi(text + 8) == omp_get_num_threads();
  }
  for (int i = 0; i < omp_get_max_threads(); i++) expect(formats[i] == 2, "a format for all");
}

static void show(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("dynamic %d nested %d levels %d schedule %d,%d bind %d priority %d\n", omp_get_dynamic(),
         omp_get_nested(), omp_get_max_active_levels(), (int)(kind & 0xf), chunk,
         omp_get_proc_bind(), omp_get_max_task_priority());
}

static void regions(void) {
  for (int i = 0; i < 3; i++) {
#pragma omp parallel
    expect(omp_get_level() == 1, "the level");
  }
}

static int inner_bind(void) {
  int bind = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
  bind = omp_get_proc_bind();
  return bind;
}

/* The clause proc_bind holds for regions within, unless the environment says more. */
static void clauses(void) {
  int before = omp_get_proc_bind(), is_list = before == omp_proc_bind_spread;
  int within = is_list ? omp_proc_bind_primary : omp_proc_bind_close;
#pragma omp parallel reduction(+ : wrong) proc_bind(close)
  wrong += (int)omp_get_proc_bind() != within || inner_bind() != within;
#pragma omp parallel if (0) proc_bind(close)
  wrong += (int)omp_get_proc_bind() != within;
  expect(!wrong && (int)omp_get_proc_bind() == before, "how regions within a region are bound");
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    void (*function)(void);
  } modes[] = {{"bound", bound}, {"unbound", unbound}, {"format", format},
               {"show", show},   {"regions", regions}, {"clauses", clauses}};
  for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (argc > 1 && strcmp(argv[1], modes[i].name) == 0) modes[i].function();
  if (!wrong) printf("good\n");
  return wrong;
}
