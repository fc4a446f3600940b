/* Jacobi by POSIX threads of one process: what shared memory costs when the hardware does it. */
#include <stdio.h>

#include "jacobi_program.h"
#include "jacobi_team.h"
#include "spin_barrier.h"

static void wait_at(void* barrier) { spin_barrier_wait(barrier); }

static void run_once(jacobi_team* team, size_t repeat) {
  static spin_barrier barrier; /* it wants cache-line alignment */
  const size_t values = team->options.size * team->options.size;
  for (int i = 0; i < 2; i++) team->grids[i] = jacobi_allocate(values * sizeof(double));
  spin_barrier_init(&barrier, team->options.threads);
  team->wait = wait_at;
  team->context = &barrier;
  jacobi_team_run(team);
  team->run.checksum = jacobi_checksum(team->grids[team->options.iterations % 2], values);
  jacobi_print("threads", &team->options, 1, repeat, &team->run);
  for (int i = 0; i < 2; i++) jacobi_release(team->grids[i], values * sizeof(double));
}

int main(int argc, char** argv) {
  jacobi_team team = {.processes = 1};
  const int status = jacobi_parse(argc, argv, 1, &team.options);
  if (status >= 0) return status;
  if (!jacobi_team_fits(&team)) {
    fprintf(stderr, "jacobi_threads: more threads than rows; choose fewer --threads\n");
    return 2;
  }
  const size_t bytes = team.options.iterations * sizeof(uint64_t);
  team.run.iteration_ns = jacobi_allocate(bytes);
  for (size_t repeat = 0; repeat < team.options.repeat; repeat++) run_once(&team, repeat);
  jacobi_release(team.run.iteration_ns, bytes);
  return 0;
}
