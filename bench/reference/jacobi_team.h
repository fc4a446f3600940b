/* Jacobi by threads on one memory, whatever makes it one: a process's own, or Terrane's. */
#ifndef TERRANE_BENCH_JACOBI_TEAM_H
#define TERRANE_BENCH_JACOBI_TEAM_H

#include <stddef.h>

#include "jacobi_program.h"

/* What the threads of all processes of a job compute on together. Borrows the grids. */
typedef struct jacobi_team {
  jacobi_options options;
  size_t process, processes;
  double* grids[2];            /* of size x size doubles; the result is in the last one written */
  void (*wait)(void* context); /* returns when every thread of every process has called it */
  void* context;
  jacobi_run run; /* written by worker 0 */
} jacobi_team;

/* Runs this process's threads, the calling one among them: they fill the grids and iterate. A
 * sentence and exit(1) where a thread cannot be started. */
void jacobi_team_run(jacobi_team* team);

/* Whether there is a row for every worker. */
int jacobi_team_fits(const jacobi_team* team);

#endif
