/* Jacobi by POSIX threads of one process: what shared memory costs when the hardware does it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "jacobi_kernel.h"
#include "jacobi_program.h"
#include "spin_barrier.h"

typedef struct job {
  jacobi_options options;
  double* grids[2];
  spin_barrier barrier;
  jacobi_run run; /* written by worker 0 */
} job;

typedef struct worker {
  job* job;
  size_t number;
} worker;

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
    spin_barrier_wait(&j->barrier);
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
  const jacobi_rows own = jacobi_own_rows(size, self->number, j->options.threads);
  if (j->options.init == JACOBI_INIT_OWN) {
    fill(j, own);
  } else if (self->number == 0) {
    fill(j, (jacobi_rows){0, size});
  }
  spin_barrier_wait(&j->barrier);
  iterate(j, self->number, jacobi_inner_rows(own, size));
  return NULL;
}

static void start_threads(job* j, pthread_t* threads, worker* workers) {
  for (size_t i = 0; i < j->options.threads; i++) {
    workers[i] = (worker){j, i};
    if (i > 0 && pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
      fprintf(stderr, "jacobi_threads: thread %zu could not be started; choose fewer --threads\n",
              i);
      exit(1);
    }
  }
}

static void run_once(job* j, size_t repeat) {
  const size_t size = j->options.size;
  const size_t bytes = size * size * sizeof(double);
  const size_t count = j->options.threads;
  pthread_t* threads = jacobi_allocate(count * sizeof *threads);
  worker* workers = jacobi_allocate(count * sizeof *workers);
  j->grids[0] = jacobi_allocate(bytes);
  j->grids[1] = jacobi_allocate(bytes);
  spin_barrier_init(&j->barrier, count);

  start_threads(j, threads, workers);
  work(&workers[0]);
  for (size_t i = 1; i < count; i++) pthread_join(threads[i], NULL);

  j->run.checksum = jacobi_checksum(j->grids[j->options.iterations % 2], size * size);
  jacobi_print("threads", &j->options, 1, repeat, &j->run);
  jacobi_release(j->grids[0], bytes);
  jacobi_release(j->grids[1], bytes);
  jacobi_release(threads, count * sizeof *threads);
  jacobi_release(workers, count * sizeof *workers);
}

int main(int argc, char** argv) {
  static job j; /* its barrier wants cache-line alignment */
  const int status = jacobi_parse(argc, argv, 1, &j.options);
  if (status >= 0) return status;
  if (j.options.threads > j.options.size) {
    fprintf(stderr, "jacobi_threads: more threads than rows; choose fewer --threads\n");
    return 2;
  }
  const size_t bytes = j.options.iterations * sizeof(uint64_t);
  j.run.iteration_ns = jacobi_allocate(bytes);
  for (size_t repeat = 0; repeat < j.options.repeat; repeat++) run_once(&j, repeat);
  jacobi_release(j.run.iteration_ns, bytes);
  return 0;
}
