/* Tasks with detach and depend, in an OpenMP program that knows nothing of Terrane: events that
 * later tasks, other threads and code behind other constructs fulfil. Each mode prints "good" where
 * all results are right, for any number of threads. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define MANY 200 /* threads */
#define EVENTS 30

static int wrong;
static int x, y, order[MANY], length, ready[MANY];
static omp_event_handle_t events[MANY];

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

static void note(int what) { order[length++] = what; }

/* The event is fulfilled by a task that is created behind those that wait for it. */
static void by_a_later_task(void) {
  length = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
    x = 1;
#pragma omp task depend(inout : x) shared(y)
    {
      note(y);
      y = 3;
    }
#pragma omp task depend(in : x) shared(y)
    note(y);
#pragma omp task firstprivate(event) shared(y) if (0)
    {
      note(1);
      y = 2;
      omp_fulfill_event(event);
    }
#pragma omp taskwait
    expect(length == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3,
           "a task waits for an event that a later task fulfils");
  }
}

/* Constructs that do not wait for the task: they end before the event is fulfilled. */
static void behind_constructs(void) {
  int inner = 0, sibling = 0;
#pragma omp parallel shared(inner, sibling)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) shared(x)
    x = 1;
#pragma omp taskgroup
    {
#pragma omp task shared(y)
      y = 1;
    }
#pragma omp task shared(sibling)
    {
#pragma omp task shared(sibling)
      sibling = 1;
#pragma omp taskwait
      expect(sibling == 1, "taskwait of a sibling");
    }
#pragma omp taskwait depend(in : y)
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
      inner += 1;
#pragma omp barrier
    }
    omp_fulfill_event(event);
#pragma omp taskwait
  }
  expect(inner >= 1, "a region within another one");
}

/* Many events, fulfilled in another order than that of their tasks. */
static void many(void) {
  int done = 0;
#pragma omp parallel shared(done)
#pragma omp single
  {
    for (int i = 0; i < EVENTS; i++) {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(out : order[i]) shared(order)
      order[i] = i;
      events[i] = event;
#pragma omp task depend(in : order[i]) shared(done, order)
      {
#pragma omp atomic
        done += order[i] == i;
      }
    }
    for (int i = EVENTS - 1; i >= 0; i -= 2) omp_fulfill_event(events[i]);
    for (int i = 0; i < EVENTS; i += 2) omp_fulfill_event(events[i]);
  }
  expect(done == EVENTS, "many events");
}

/* Each thread fulfils the event of the next one. The task that depends on it sees what that thread
 * wrote before. */
static void by_other_threads(void) {
  int threads = omp_get_max_threads() < MANY ? omp_get_max_threads() : MANY, good = 0;
  memset(ready, 0, sizeof ready);
#pragma omp parallel num_threads(threads) reduction(+ : good)
  {
    int me = omp_get_thread_num(), next = (me + 1) % omp_get_num_threads(), there = 0, mine = 0;
    omp_event_handle_t own;
#pragma omp task detach(own) depend(out : mine) shared(mine)
    mine = 1;
#pragma omp task depend(in : mine) shared(mine)
    mine = order[me];
    events[me] = own;
#pragma omp atomic write release
    ready[me] = 1;
    while (!there) {
#pragma omp atomic read acquire
      there = ready[next];
    }
    order[next] = 100 + next;
    omp_fulfill_event(events[next]);
#pragma omp taskwait
    good += mine == 100 + me;
  }
  expect(good == threads, "what a thread wrote before it fulfilled an event");
}

/* A taskgroup waits for the event of a task of a task in it. */
static void within_groups(void) {
  int seen = 0;
#pragma omp parallel shared(seen)
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task shared(seen)
      {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(seen)
        {
#pragma omp atomic
          seen += 1;
        }
#pragma omp task firstprivate(event) shared(seen)
        {
#pragma omp atomic
          seen += 2;
          omp_fulfill_event(event);
        }
      }
    }
    expect(seen == 3, "a taskgroup and an event within it");
  }
}

/* Tasks that are not deferred wait for those that they depend on. */
static void at_once(void) {
  int first = 0, second = 0;
#pragma omp parallel shared(first, second)
#pragma omp single
  {
    omp_event_handle_t event;
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : first)
#pragma omp task detach(event) depend(depobj : object) shared(first)
    first = 1;
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
#pragma omp task depend(mutexinoutset : first) shared(first) if (0)
    first += 10;
#pragma omp task depend(in : first) shared(first, second) if (0)
    second = first;
    expect(second == 11, "tasks that run at once");
#pragma omp depobj(object) destroy
#pragma omp taskwait
  }
}

int main(int argc, char** argv) {
  struct {
    const char* name;
    void (*function)(void);
  } modes[] = {{"by_a_later_task", by_a_later_task},
               {"behind_constructs", behind_constructs},
               {"many", many},
               {"by_other_threads", by_other_threads},
               {"within_groups", within_groups},
               {"at_once", at_once}};
  for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (argc < 2 || strcmp(argv[1], modes[i].name) == 0) modes[i].function();
  if (!wrong) printf("good\n");
  return wrong;
}
