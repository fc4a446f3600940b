#include <math.h>

#include "kernel.h"
#include "ocean.h"

EXTERN_ENV;

/* Below so many rows a worker, worker 0 does the work alone: a barrier costs more than it. */
enum { kRowsOfWorker = 8, kSweeps = 2, kCoarsestSweeps = 20 };

/* The rows of a level that belong to worker `me`, from 1 to the size. */
static struct kernel_share own_rows(const struct basin* basin, const struct level* level, long me) {
  struct kernel_share own = kernel_share_of(level->size, me, basin->workers);
  if (level->size < kRowsOfWorker * basin->workers) {
    own.first = 0;
    own.end = me == 0 ? level->size : 0;
  }
  own.first++;
  own.end++;
  return own;
}

static int is_divided(const struct basin* basin, const struct level* level) {
  return level->size >= kRowsOfWorker * basin->workers;
}

static void level_barrier(struct basin* basin, const struct level* level) {
  if (is_divided(basin, level)) basin_barrier(basin);
}

/* The border lies half a cell outside, so that a cell beyond it is the negative of its neighbour:
 * the cell itself counts once more. */
static double weight(long size, long row, long column) {
  return 4.0 + (row == 1) + (row == size) + (column == 1) + (column == size);
}

static double neighbours(const struct level* level, long row, long column) {
  const double* u = &level->u[cell(level->size, row, column)];
  return u[-1] + u[1] + u[-(level->size + 2)] + u[level->size + 2];
}

static double residual_at(const struct level* level, long row, long column) {
  const double scale = (double)level->size * (double)level->size;
  const long here = cell(level->size, row, column);
  const double sum =
      neighbours(level, row, column) - weight(level->size, row, column) * level->u[here];
  return level->f[here] - scale * sum;
}

double greatest_residual(const struct level* level, long first, long end) {
  double greatest = 0;
  for (long row = first; row < end; row++) {
    for (long column = 1; column <= level->size; column++) {
      greatest = fmax(greatest, fabs(residual_at(level, row, column)));
    }
  }
  return greatest;
}

/* One sweep of Gauss and Seidel: all red cells, then all black ones. */
static void sweep(struct basin* basin, const struct level* level, struct kernel_share own) {
  const double area = 1.0 / ((double)level->size * (double)level->size);
  for (long colour = 0; colour < 2; colour++) {
    for (long row = own.first; row < own.end; row++) {
      for (long column = 1 + (row + colour) % 2; column <= level->size; column += 2) {
        const long here = cell(level->size, row, column);
        level->u[here] = (neighbours(level, row, column) - area * level->f[here]) /
                         weight(level->size, row, column);
      }
    }
    level_barrier(basin, level);
  }
}

/* The residual of `fine` becomes the right side of `coarse`, whose unknowns begin at 0. */
static void restrict_to(const struct level* fine, const struct level* coarse,
                        struct kernel_share own) {
  for (long row = own.first; row < own.end; row++) {
    for (long column = 1; column <= coarse->size; column++) {
      const long here = cell(coarse->size, row, column);
      coarse->f[here] = 0.25 * (residual_at(fine, 2 * row - 1, 2 * column - 1) +
                                residual_at(fine, 2 * row - 1, 2 * column) +
                                residual_at(fine, 2 * row, 2 * column - 1) +
                                residual_at(fine, 2 * row, 2 * column));
      coarse->u[here] = 0;
    }
  }
}

/* Adds what `coarse` found to the own rows of `fine`. */
static void correct_by(const struct level* coarse, const struct level* fine,
                       struct kernel_share own) {
  for (long row = own.first; row < own.end; row++) {
    for (long column = 1; column <= fine->size; column++) {
      fine->u[cell(fine->size, row, column)] +=
          coarse->u[cell(coarse->size, (row + 1) / 2, (column + 1) / 2)];
    }
  }
}

static void cycle(struct basin* basin, int depth, long me) {
  const struct level* level = &basin->level[depth];
  const struct kernel_share own = own_rows(basin, level, me);
  if (depth == basin->levels - 1) {
    for (int i = 0; i < kCoarsestSweeps; i++) sweep(basin, level, own);
    return;
  }
  const struct level* coarse = level + 1;
  for (int i = 0; i < kSweeps; i++) sweep(basin, level, own);
  restrict_to(level, coarse, own_rows(basin, coarse, me));
  level_barrier(basin, coarse);
  cycle(basin, depth + 1, me);
  /* Worker 0 alone has seen what it did alone. */
  if (is_divided(basin, level) && !is_divided(basin, coarse)) basin_barrier(basin);
  correct_by(coarse, level, own);
  level_barrier(basin, level);
  for (int i = 0; i < kSweeps; i++) sweep(basin, level, own);
}

double greatest_of_all(struct basin* basin, long me, double own, long turn) {
  double* greatest = &basin->residual[turn % 3];
  LOCK(basin->lock);
  *greatest = fmax(*greatest, own);
  UNLOCK(basin->lock);
  basin_barrier(basin);
  const double found = *greatest;
  /* The last turn's, which all workers have read before they came to the barrier. */
  if (me == 0) basin->residual[(turn + 2) % 3] = 0;
  return found;
}

long solve(struct basin* basin, long me) {
  const struct level* finest = &basin->level[0];
  const struct kernel_share own = own_rows(basin, finest, me);
  double greatest = 0;
  for (long row = own.first; row < own.end; row++) {
    for (long column = 1; column <= finest->size; column++) {
      greatest = fmax(greatest, fabs(finest->f[cell(finest->size, row, column)]));
    }
  }
  const double limit = 1e-7 * greatest_of_all(basin, me, greatest, 0);
  long cycles = 0;
  while (cycles < kMostCycles) {
    const double left = greatest_residual(finest, own.first, own.end);
    if (greatest_of_all(basin, me, left, cycles + 1) <= limit) break;
    cycle(basin, 0, me);
    cycles++;
  }
  basin_barrier(basin);
  if (me == 0) basin->residual[0] = basin->residual[1] = basin->residual[2] = 0;
  basin_barrier(basin);
  return cycles;
}
