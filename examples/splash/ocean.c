/* The circulation of an ocean basin that the wind drives: the barotropic vorticity equation with
 * friction.
 *
 * In each step of time the vorticity z changes by advection, by the Earth's rotation, by the wind,
 * by friction at the bottom and by eddies; then the stream function s is found from: Laplacian of s
 * = z (ocean.h). Each worker owns consecutive rows, and reads the row before and the row after
 * them.
 */
#include "ocean.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"

MAIN_ENV;

/* The basin has sides of length 1. */
static const double kRotation = 100; /* its change from south to north */
static const double kWind = 100;
static const double kFriction = 5;
static const double kEddies = 2e-3;

static struct basin* shared;

void basin_barrier(struct basin* basin) {
  if (basin->workers > 1) BARRIER(basin->barrier, basin->workers);
}

/* By how much the vorticity changes in a unit of time. */
static double change(const struct level* level, long row, long column) {
  const double n = (double)level->size;
  const long up = level->size + 2;
  const double* s = &level->u[cell(level->size, row, column)];
  const double* z = &level->f[cell(level->size, row, column)];
  const double s_x = (s[1] - s[-1]) * n / 2;
  const double s_y = (s[up] - s[-up]) * n / 2;
  const double z_x = (z[1] - z[-1]) * n / 2;
  const double z_y = (z[up] - z[-up]) * n / 2;
  const double eddies = (z[1] + z[-1] + z[up] + z[-up] - 4 * z[0]) * n * n;
  const double wind = -kWind * sin(M_PI * ((double)row - 0.5) / n);
  return s_y * z_x - s_x * z_y - kRotation * s_x + wind - kFriction * z[0] + kEddies * eddies;
}

static void step(struct basin* basin, long me) {
  const struct level* finest = &basin->level[0];
  const struct kernel_share own = kernel_share_of(basin->size, me, basin->workers);
  const double n = (double)basin->size;
  const double time = fmin(1e-3, 0.1 / (kEddies * n * n)); /* small enough to be stable */
  for (long row = own.first + 1; row <= own.end; row++) {
    for (long column = 1; column <= basin->size; column++) {
      const long here = cell(basin->size, row, column);
      basin->vorticity[here] = finest->f[here] + time * change(finest, row, column);
    }
  }
  basin_barrier(basin);
  for (long row = own.first + 1; row <= own.end; row++) {
    const long begin = cell(basin->size, row, 1);
    memcpy(&finest->f[begin], &basin->vorticity[begin], (size_t)basin->size * sizeof(double));
  }
  basin_barrier(basin);
}

/* An ocean at rest. Each worker writes its own rows first. */
static void clear_own(struct basin* basin, long me) {
  for (int depth = 0; depth < basin->levels; depth++) {
    const struct level* level = &basin->level[depth];
    const struct kernel_share own = kernel_share_of(level->size + 2, me, basin->workers);
    const size_t bytes = (size_t)((own.end - own.first) * (level->size + 2)) * sizeof(double);
    memset(&level->u[cell(level->size, own.first, 0)], 0, bytes);
    memset(&level->f[cell(level->size, own.first, 0)], 0, bytes);
    if (depth == 0) memset(&basin->vorticity[cell(level->size, own.first, 0)], 0, bytes);
  }
}

static void run(struct basin* basin) {
  LOCK(basin->lock);
  const long me = basin->next_worker++;
  UNLOCK(basin->lock);
  clear_own(basin, me);
  basin_barrier(basin);
  if (me == 0) CLOCK(basin->begin);
  for (long i = 0; i < basin->steps; i++) {
    step(basin, me);
    const long cycles = solve(basin, me);
    if (me == 0) basin->cycles += cycles;
  }
  basin_barrier(basin);
  if (me == 0) CLOCK(basin->end);
}

static void worker(void) { run(shared); }

static struct basin* new_basin(long workers, long size, long steps) {
  struct basin* basin = (struct basin*)kernel_allocate(1, sizeof *basin);
  memset(basin, 0, sizeof *basin);
  basin->workers = workers;
  basin->size = size;
  basin->steps = steps;
  LOCKINIT(basin->lock);
  BARINIT(basin->barrier, workers);
  for (; size >= 2; size /= 2) {
    struct level* level = &basin->level[basin->levels++];
    const size_t cells = (size_t)((size + 2) * (size + 2));
    level->size = size;
    level->u = (double*)kernel_allocate(cells, sizeof(double));
    level->f = (double*)kernel_allocate(cells, sizeof(double));
    if (basin->levels == 1) basin->vorticity = (double*)kernel_allocate(cells, sizeof(double));
  }
  return basin;
}

int main(int argc, char** argv) {
  long workers = 1;
  long side = 258;
  long steps = 10;
  const struct kernel_option options[] = {
      {'p', "processors", &workers, 1, 1024},
      {'n', "cells a side and border, a power of 2 and 2", &side, 6, (1 << 15) + 2},
      {'s', "steps of time", &steps, 1, 1000000},
      {0, NULL, NULL, 0, 0},
  };
  MAIN_INITENV(, 60000000);
  kernel_options(argc, argv, "circulation of an ocean, by red-black multigrid", options);
  const long size = side - 2;
  if ((size & (size - 1)) != 0)
    kernel_fail("-n %ld: this is no power of 2 and 2, such as 258", side);
  if (workers > size) kernel_fail("-p %ld: at most one processor a row", workers);

  shared = new_basin(workers, size, steps);
  CREATE(worker, workers);
  WAIT_FOR_END(workers);

  /* The same ocean by one worker alone. */
  struct basin* alone = new_basin(1, size, steps);
  run(alone);
  const struct level* found = &shared->level[0];
  const struct level* expected = &alone->level[0];
  long different = 0;
  double greatest = 0;
  for (long i = 0; i < (size + 2) * (size + 2); i++) {
    if (found->u[i] != expected->u[i] || found->f[i] != expected->f[i]) different++;
    greatest = fmax(greatest, fabs(found->f[i]));
  }
  const double left = greatest_residual(found, 1, size + 1) / greatest;
  kernel_report(shared->begin, shared->end, different == 0 && left <= 1e-7,
                "%ld cells differ from those of one processor; %ld cycles, residual %.1e",
                different, shared->cycles, left);
  MAIN_END;
}
