/* Blocked LU factorisation of a dense matrix without pivoting (S. C. Woo et al., 1994).
 *
 * The matrix is divided into blocks of b x b, which the workers own in a two-dimensional pattern;
 * only the owner writes a block. Two layouts: contiguous, where all blocks of an owner lie
 * together, and by rows, where the matrix is one array and a page holds rows of many owners'
 * blocks. In step k:
 *   1. the owner of block (k,k) factors it, then a barrier;
 *   2. the owners of column k and row k divide their blocks by it, then a barrier;
 *   3. the owners of all later blocks subtract the product of their column's and row's block.
 */
#include <math.h>
#include <stdio.h>
#include <terrane/anl.h>

#include "kernel.h"

MAIN_ENV;

enum { kSeed = 3 };

static struct {
  long workers;
  long size;
  long block;
  long contiguous; /* the layout: 1, or 0: by rows */
  long blocks;     /* a side */
  long grid_rows;  /* the workers as a grid */
  long grid_columns;
  long pitch;     /* from a row of a block to the next, in numbers */
  double** place; /* where block (i, j) begins: place[i * blocks + j] */
} lu = {1, 512, 16, 1, 0, 0, 0, 0, NULL};

static struct shared {
  LOCKDEC(lock);
  BARDEC(barrier);
  long next_worker;
  unsigned long begin;
  unsigned long end;
} * shared;

/* The matrix before it is factored. The diagonal dominates, so that no pivoting is needed. */
static double input(long row, long column) {
  const double number = kernel_random(kSeed, (uint64_t)(row * lu.size + column)) - 0.5;
  return row == column ? number + (double)lu.size : number;
}

static long owner(long i, long j) {
  return i % lu.grid_rows * lu.grid_columns + j % lu.grid_columns;
}

static double* block_at(long i, long j) { return lu.place[i * lu.blocks + j]; }

/* L and U in place of a; the diagonal of L is 1. */
static void factor_block(double* a) {
  for (long k = 0; k < lu.block; k++) {
    for (long i = k + 1; i < lu.block; i++) {
      const double factor = a[i * lu.pitch + k] /= a[k * lu.pitch + k];
      for (long j = k + 1; j < lu.block; j++) a[i * lu.pitch + j] -= factor * a[k * lu.pitch + j];
    }
  }
}

/* Column k: a = a U^-1. */
static void divide_column_block(double* a, const double* diagonal) {
  for (long i = 0; i < lu.block; i++) {
    double* row = &a[i * lu.pitch];
    for (long k = 0; k < lu.block; k++) {
      const double* upper = &diagonal[k * lu.pitch];
      const double factor = row[k] /= upper[k];
      for (long j = k + 1; j < lu.block; j++) row[j] -= factor * upper[j];
    }
  }
}

/* Row k: a = L^-1 a. */
static void divide_row_block(double* a, const double* diagonal) {
  for (long k = 0; k < lu.block; k++) {
    for (long i = k + 1; i < lu.block; i++) {
      const double factor = diagonal[i * lu.pitch + k];
      for (long j = 0; j < lu.block; j++) a[i * lu.pitch + j] -= factor * a[k * lu.pitch + j];
    }
  }
}

/* a = a - left above. */
static void subtract_product(double* restrict a, const double* restrict left,
                             const double* restrict above) {
  for (long i = 0; i < lu.block; i++) {
    double* row = &a[i * lu.pitch];
    for (long k = 0; k < lu.block; k++) {
      const double factor = left[i * lu.pitch + k];
      const double* upper = &above[k * lu.pitch];
      for (long j = 0; j < lu.block; j++) row[j] -= factor * upper[j];
    }
  }
}

static void factor(long me) {
  for (long k = 0; k < lu.blocks; k++) {
    if (owner(k, k) == me) factor_block(block_at(k, k));
    BARRIER(shared->barrier, lu.workers);
    for (long i = k + 1; i < lu.blocks; i++) {
      if (owner(i, k) == me) divide_column_block(block_at(i, k), block_at(k, k));
      if (owner(k, i) == me) divide_row_block(block_at(k, i), block_at(k, k));
    }
    BARRIER(shared->barrier, lu.workers);
    for (long i = k + 1; i < lu.blocks; i++) {
      for (long j = k + 1; j < lu.blocks; j++) {
        if (owner(i, j) == me) subtract_product(block_at(i, j), block_at(i, k), block_at(k, j));
      }
    }
  }
}

static void fill_own_blocks(long me) {
  for (long i = 0; i < lu.blocks; i++) {
    for (long j = 0; j < lu.blocks; j++) {
      if (owner(i, j) != me) continue;
      for (long row = 0; row < lu.block; row++) {
        for (long column = 0; column < lu.block; column++) {
          block_at(i, j)[row * lu.pitch + column] =
              input(i * lu.block + row, j * lu.block + column);
        }
      }
    }
  }
}

static void worker(void) {
  LOCK(shared->lock);
  const long me = shared->next_worker++;
  UNLOCK(shared->lock);
  fill_own_blocks(me);
  BARRIER(shared->barrier, lu.workers);
  if (me == 0) CLOCK(shared->begin);
  factor(me);
  BARRIER(shared->barrier, lu.workers);
  if (me == 0) CLOCK(shared->end);
}

/* All blocks of an owner one after another, from a page boundary on. */
static void place_contiguous(void) {
  const size_t bytes = (size_t)(lu.block * lu.block) * sizeof(double);
  for (long worker = 0; worker < lu.workers; worker++) {
    size_t owned = 0;
    for (long i = 0; i < lu.blocks * lu.blocks; i++) {
      if (owner(i / lu.blocks, i % lu.blocks) == worker) owned++;
    }
    double* next = (double*)kernel_allocate(owned, bytes);
    for (long i = 0; i < lu.blocks * lu.blocks; i++) {
      if (owner(i / lu.blocks, i % lu.blocks) != worker) continue;
      lu.place[i] = next;
      next += lu.block * lu.block;
    }
  }
  lu.pitch = lu.block;
}

static void place_by_rows(void) {
  double* matrix = (double*)kernel_allocate((size_t)(lu.size * lu.size), sizeof(double));
  for (long i = 0; i < lu.blocks * lu.blocks; i++) {
    lu.place[i] = &matrix[i / lu.blocks * lu.block * lu.size + i % lu.blocks * lu.block];
  }
  lu.pitch = lu.size;
}

static double result(long row, long column) {
  return block_at(row / lu.block, column / lu.block)[row % lu.block * lu.pitch + column % lu.block];
}

/* The greatest |A x - L (U x)| for a random x, in relation to the size of A x (Freivalds). */
static double residual(void) {
  double* upper = (double*)kernel_allocate((size_t)lu.size, sizeof(double));
  double greatest = 0;
  for (long row = 0; row < lu.size; row++) {
    upper[row] = 0;
    for (long j = row; j < lu.size; j++)
      upper[row] += result(row, j) * kernel_random(0, (uint64_t)j);
  }
  for (long row = 0; row < lu.size; row++) {
    double expected = 0;
    double found = upper[row];
    for (long j = 0; j < lu.size; j++) expected += input(row, j) * kernel_random(0, (uint64_t)j);
    for (long j = 0; j < row; j++) found += result(row, j) * upper[j];
    greatest = fmax(greatest, fabs(found - expected));
  }
  return greatest / (double)lu.size;
}

int main(int argc, char** argv) {
  const struct kernel_option options[] = {
      {'p', "processors", &lu.workers, 1, 1024},
      {'n', "rows and columns", &lu.size, 1, 1 << 16},
      {'b', "rows and columns of a block", &lu.block, 1, 1024},
      {'c', "1: contiguous blocks, 0: one array by rows", &lu.contiguous, 0, 1},
      {0, NULL, NULL, 0, 0},
  };
  MAIN_INITENV(, 150000000);
  kernel_options(argc, argv, "blocked LU factorisation of a dense matrix", options);
  if (lu.size % lu.block != 0)
    kernel_fail("-n %ld: this is no multiple of -b %ld", lu.size, lu.block);
  lu.blocks = lu.size / lu.block;
  for (lu.grid_rows = (long)sqrt((double)lu.workers); lu.workers % lu.grid_rows != 0;)
    lu.grid_rows--;
  lu.grid_columns = lu.workers / lu.grid_rows;

  shared = (struct shared*)kernel_allocate(1, sizeof *shared);
  shared->next_worker = 0;
  LOCKINIT(shared->lock);
  BARINIT(shared->barrier, lu.workers);
  lu.place = (double**)kernel_allocate((size_t)(lu.blocks * lu.blocks), sizeof(double*));
  if (lu.contiguous) {
    place_contiguous();
  } else {
    place_by_rows();
  }

  CREATE(worker, lu.workers);
  WAIT_FOR_END(lu.workers);

  const double error = residual();
  kernel_report(shared->begin, shared->end, error < 1e-12,
                "A x and L (U x) differ by %.1e, in relation to the size of A", error);
  MAIN_END;
}
