/* Tasks that wait for events which later tasks, or code behind them, fulfil: a team of two threads
 * and more can run those meanwhile, on whatever node the first ones are. argv: a mode, and how many
 * other tasks there are. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static omp_event_handle_t handle;
static int published, done, x;

static void publish(omp_event_handle_t event) {
  handle = event;
#pragma omp atomic write release
  published = 1;
}

static omp_event_handle_t await_published(void) {
  int is_there = 0;
  while (!is_there) {
#pragma omp atomic read acquire
    is_there = published;
  }
  return handle;
}

static void count(void) {
#pragma omp atomic
  done++;
}

static void create_others(int others) {
  for (int i = 0; i < others; i++)
#pragma omp task
  {
    double from = omp_get_wtime();
    while (omp_get_wtime() - from < 0.01) continue;
    count();
  }
}

/* Waits for the event of a task of its own. */
static void wait_in_task(void) {
  omp_event_handle_t event;
#pragma omp task detach(event)
  count();
  publish(event);
#pragma omp taskwait
  count();
}

static int taskwait(int others) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    wait_in_task();
#pragma omp task
    {
      omp_fulfill_event(await_published());
      count();
    }
    create_others(others);
  }
  return 3 + others;
}

/* The code of the task is over before the event is fulfilled. */
static int detached(int others) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
      omp_event_handle_t event;
#pragma omp task detach(event)
      count();
      publish(event);
    }
#pragma omp task
    {
      omp_fulfill_event(await_published());
      count();
    }
    create_others(others);
#pragma omp taskwait
  }
  return 2 + others;
}

/* The thread that creates a task with depend fulfils the event behind it. */
static int depend(int others) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    wait_in_task();
    create_others(others);
    omp_fulfill_event(await_published());
  }
  return 2 + others;
}

/* The task that fulfils it waits for another event itself. */
static int kept(int others) {
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t first;
#pragma omp task detach(first) depend(out : x)
    x = 1;
#pragma omp task depend(in : x)
    {
      if (x == 1) omp_fulfill_event(await_published());
      count();
    }
#pragma omp task
    wait_in_task();
#pragma omp task
    {
      await_published();
      omp_fulfill_event(first);
      count();
    }
    create_others(others);
#pragma omp taskwait
  }
  return 4 + others;
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    int (*run)(int);
  } modes[] = {{"taskwait", taskwait}, {"detached", detached}, {"depend", depend}, {"kept", kept}};
  int others = argc > 2 ? atoi(argv[2]) : 0;
  for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (argc > 1 && strcmp(argv[1], modes[i].name) == 0 && modes[i].run(others) == done)
      puts("good");
  return 0;
}
