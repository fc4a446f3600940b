/* The wind-driven circulation of an ocean basin, on a square grid (ocean.c), and its multigrid
 * solver (multigrid.c).
 *
 * The grid of n x n cells lies in an array of (n + 2) x (n + 2) numbers whose border is 0. Workers
 * own consecutive rows. A result does not depend on the number of workers, bit for bit.
 */
#ifndef OCEAN_H
#define OCEAN_H

#include <terrane/anl.h>

enum { kLevels = 20 };

/* A level of the multigrid: unknowns, right side, and cells a side. Level 0 is the finest. */
struct level {
  double* u;
  double* f;
  long size;
};

/* What all workers of a run share. */
struct basin {
  long workers;
  long size;
  long steps;
  int levels;
  struct level level[kLevels]; /* level[0]: the stream function, and the vorticity */
  double* vorticity;           /* of the next time */
  long next_worker;
  long cycles; /* of the multigrid, all steps together */
  double residual[3];
  unsigned long begin;
  unsigned long end;
  LOCKDEC(lock);
  BARDEC(barrier);
};

/* All workers of the basin have arrived. */
void basin_barrier(struct basin* basin);

static inline long cell(long size, long row, long column) { return row * (size + 2) + column; }

/* Solves: Laplacian of level[0].u = level[0].f, with u = 0 on the border, by multigrid cycles with
 * red-black sweeps, from the u that is there. All workers call it. Returns the number of cycles;
 * what is left of the residual is at most 1e-7 of the greatest |f|, unless it took kMostCycles. */
enum { kMostCycles = 60 };
long solve(struct basin* basin, long me);

/* The greatest |number| of all workers' `own`. All workers call it. `turn`: 0, 1, 2, 0 ... in
 * successive calls. */
double greatest_of_all(struct basin* basin, long me, double own, long turn);

/* The greatest residual in the rows [first, end). */
double greatest_residual(const struct level* level, long first, long end);

#endif
