#include "jacobi_team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "jacobi_kernel.h"

typedef struct worker {
  jacobi_team* team;
  size_t number; /* among all threads of all processes */
} worker;

static void fill(jacobi_team* t, jacobi_rows rows) {
  const size_t size = t->options.size;
  for (size_t y = rows.first; y < rows.end; y++) {
    jacobi_fill_row(t->grids[0] + y * size, y, size);
    jacobi_fill_row(t->grids[1] + y * size, y, size);
  }
}

static void iterate(jacobi_team* t, size_t number, jacobi_rows rows) {
  double* from = t->grids[0];
  double* to = t->grids[1];
  uint64_t last = jacobi_now_ns();
  const uint64_t start = last;
  for (size_t i = 0; i < t->options.iterations; i++) {
    jacobi_sweep(from, to, rows, t->options.size);
    t->wait(t->context);
    double* swap = from;
    from = to;
    to = swap;
    if (number != 0) continue;
    const uint64_t now = jacobi_now_ns();
    t->run.iteration_ns[i] = now - last;
    last = now;
  }
  if (number == 0) t->run.loop_ns = last - start;
}

static void* work(void* argument) {
  const worker* self = argument;
  jacobi_team* t = self->team;
  const size_t size = t->options.size;
  const size_t workers = t->processes * t->options.threads;
  const jacobi_rows own = jacobi_own_rows(size, self->number, workers);
  if (t->options.init == JACOBI_INIT_OWN) {
    fill(t, own);
  } else if (self->number == 0) {
    fill(t, (jacobi_rows){0, size});
  }
  t->wait(t->context);
  iterate(t, self->number, jacobi_inner_rows(own, size));
  return NULL;
}

void jacobi_team_run(jacobi_team* team) {
  const size_t count = team->options.threads;
  pthread_t threads[count];
  worker workers[count];
  for (size_t i = 0; i < count; i++) {
    workers[i] = (worker){team, team->process * count + i};
    if (i > 0 && pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "jacobi: thread %zu could not be started; choose fewer --threads\n", i);
      _Exit(1); /* a launcher ends the other processes */
    }
  }
  work(&workers[0]);
  for (size_t i = 1; i < count; i++) pthread_join(threads[i], NULL);
}

int jacobi_team_fits(const jacobi_team* team) {
  return team->processes * team->options.threads <= team->options.size;
}
