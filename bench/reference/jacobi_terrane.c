/* Jacobi on Terrane's shared memory: the threads program with another allocation and another
 * barrier. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/pages.h>

#include "jacobi_program.h"
#include "jacobi_team.h"

enum { kWorkersBarrier = 1 };

static void fail(const char* what) {
  fprintf(stderr, "jacobi_terrane: %s: %s\n", what, terrane_error());
  _Exit(1); /* the launcher ends the other nodes */
}

static void wait_for_workers(void* team) {
  const jacobi_team* t = team;
  if (terrane_barrier_threads(kWorkersBarrier, (uint32_t)t->options.threads) != TERRANE_OK)
    fail("barrier");
}

/* Node 0 copies the result to its own memory, as MPI_Gatherv would, and prints. */
static void conclude(jacobi_team* team, size_t repeat) {
  const size_t values = team->options.size * team->options.size;
  double* result = jacobi_allocate(values * sizeof *result);
  const uint64_t start = jacobi_now_ns();
  memcpy(result, team->grids[team->options.iterations % 2], values * sizeof *result);
  team->run.gather_ns = jacobi_now_ns() - start;
  team->run.checksum = jacobi_checksum(result, values);
  jacobi_print("terrane", &team->options, team->processes, repeat, &team->run);
  jacobi_release(result, values * sizeof *result);
}

/* Fresh shared memory for every run: homes chosen in the last one would help this one. */
static void run_once(jacobi_team* team, size_t repeat) {
  const terrane_alloc_options options = {.name = "jacobi"};
  const size_t bytes = team->options.size * team->options.size * sizeof(double);
  for (int i = 0; i < 2; i++) {
    team->grids[i] = terrane_alloc_all(bytes, &options);
    if (team->grids[i] == NULL) fail("allocation");
  }
  jacobi_team_run(team);
  if (team->process == 0) conclude(team, repeat);
  if (terrane_barrier() != TERRANE_OK) fail("barrier");
  for (int i = 0; i < 2 && team->process == 0; i++) {
    if (terrane_free(team->grids[i]) != TERRANE_OK) fail("free");
  }
}

static int run_all(jacobi_team* team) {
  if (!jacobi_team_fits(team)) {
    if (team->process == 0)
      fprintf(stderr, "jacobi_terrane: more workers than rows; choose fewer --threads\n");
    return 2;
  }
  const size_t bytes = team->options.iterations * sizeof(uint64_t);
  team->run.iteration_ns = jacobi_allocate(bytes);
  for (size_t repeat = 0; repeat < team->options.repeat; repeat++) run_once(team, repeat);
  jacobi_release(team->run.iteration_ns, bytes);
  return 0;
}

int main(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) fail("init");
  jacobi_team team = {.process = (size_t)terrane_node(), .processes = (size_t)terrane_nodes()};
  team.wait = wait_for_workers;
  team.context = &team;
  int status = jacobi_parse(argc, argv, team.process == 0, &team.options);
  if (status < 0) status = run_all(&team);
  terrane_finalize();
  return status;
}
