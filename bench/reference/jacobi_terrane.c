/* Jacobi on Terrane's shared memory: the threads program with another allocation and another
 * barrier. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/pages.h>

#include "jacobi_kernel.h"
#include "jacobi_program.h"

enum { kWorkersBarrier = 1 };

typedef struct job {
  jacobi_options options;
  size_t node, nodes;
  double* grids[2]; /* shared */
  jacobi_run run;   /* written by worker 0 */
} job;

typedef struct worker {
  job* job;
  size_t number; /* among all threads of all nodes */
} worker;

static void fail(const char* what) {
  fprintf(stderr, "jacobi_terrane: %s: %s\n", what, terrane_error());
  _Exit(1); /* the launcher ends the other nodes */
}

static void wait_for_workers(const job* j) {
  if (terrane_barrier_threads(kWorkersBarrier, (uint32_t)j->options.threads) != TERRANE_OK)
    fail("barrier");
}

static void fill(job* j, jacobi_rows rows) {
  const size_t size = j->options.size;
  for (size_t y = rows.first; y < rows.end; y++) {
    jacobi_fill_row(j->grids[0] + y * size, y, size);
    jacobi_fill_row(j->grids[1] + y * size, y, size);
  }
}

static void iterate(job* j, size_t number, jacobi_rows rows) {
  double* from = j->grids[0];
  double* to = j->grids[1];
  uint64_t last = jacobi_now_ns();
  const uint64_t start = last;
  for (size_t i = 0; i < j->options.iterations; i++) {
    jacobi_sweep(from, to, rows, j->options.size);
    wait_for_workers(j);
    double* swap = from;
    from = to;
    to = swap;
    if (number != 0) continue;
    const uint64_t now = jacobi_now_ns();
    j->run.iteration_ns[i] = now - last;
    last = now;
  }
  if (number == 0) j->run.loop_ns = last - start;
}

static void* work(void* argument) {
  const worker* self = argument;
  job* j = self->job;
  const size_t size = j->options.size;
  const jacobi_rows own = jacobi_own_rows(size, self->number, j->nodes * j->options.threads);
  if (j->options.init == JACOBI_INIT_OWN) {
    fill(j, own);
  } else if (self->number == 0) {
    fill(j, (jacobi_rows){0, size});
  }
  wait_for_workers(j);
  iterate(j, self->number, jacobi_inner_rows(own, size));
  return NULL;
}

static void run_workers(job* j) {
  const size_t count = j->options.threads;
  pthread_t threads[count];
  worker workers[count];
  for (size_t i = 0; i < count; i++) {
    workers[i] = (worker){j, j->node * count + i};
    if (i > 0 && pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "jacobi_terrane: thread %zu could not be started; choose fewer --threads\n",
              i);
      _Exit(1);
    }
  }
  work(&workers[0]);
  for (size_t i = 1; i < count; i++) pthread_join(threads[i], NULL);
}

/* Node 0 copies the result to its own memory, as MPI_Gatherv would, and prints. */
static void conclude(job* j, size_t repeat) {
  const size_t values = j->options.size * j->options.size;
  double* result = jacobi_allocate(values * sizeof *result);
  const uint64_t start = jacobi_now_ns();
  memcpy(result, j->grids[j->options.iterations % 2], values * sizeof *result);
  j->run.gather_ns = jacobi_now_ns() - start;
  j->run.checksum = jacobi_checksum(result, values);
  jacobi_print("terrane", &j->options, j->nodes, repeat, &j->run);
  jacobi_release(result, values * sizeof *result);
}

/* Fresh shared memory for every run: homes chosen in the last one would help this one. */
static void run_once(job* j, size_t repeat) {
  const terrane_alloc_options options = {.name = "jacobi"};
  for (int i = 0; i < 2; i++) {
    j->grids[i] = terrane_alloc_all(j->options.size * j->options.size * sizeof(double), &options);
    if (j->grids[i] == NULL) fail("allocation");
  }
  run_workers(j);
  if (j->node == 0) conclude(j, repeat);
  if (terrane_barrier() != TERRANE_OK) fail("barrier");
  for (int i = 0; i < 2 && j->node == 0; i++) {
    if (terrane_free(j->grids[i]) != TERRANE_OK) fail("free");
  }
}

static int run_all(job* j) {
  if (j->nodes * j->options.threads > j->options.size) {
    if (j->node == 0)
      fprintf(stderr, "jacobi_terrane: more workers than rows; choose fewer --threads\n");
    return 2;
  }
  const size_t bytes = j->options.iterations * sizeof(uint64_t);
  j->run.iteration_ns = jacobi_allocate(bytes);
  for (size_t repeat = 0; repeat < j->options.repeat; repeat++) run_once(j, repeat);
  jacobi_release(j->run.iteration_ns, bytes);
  return 0;
}

int main(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) fail("init");
  job j = {.node = (size_t)terrane_node(), .nodes = (size_t)terrane_nodes()};
  int status = jacobi_parse(argc, argv, j.node == 0, &j.options);
  if (status < 0) status = run_all(&j);
  terrane_finalize();
  return status;
}
