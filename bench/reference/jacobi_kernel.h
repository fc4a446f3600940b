/* The computation that the three Jacobi programs time: one kernel, so that they differ in how
 * memory is shared alone. */
#ifndef TERRANE_BENCH_JACOBI_KERNEL_H
#define TERRANE_BENCH_JACOBI_KERNEL_H

#include <stddef.h>

/* The rows [first, end) of a size x size grid that one worker computes; boundary rows stay as they
 * are. */
typedef struct jacobi_rows {
  size_t first, end;
} jacobi_rows;

static inline size_t jacobi_least(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t jacobi_most(size_t a, size_t b) { return a > b ? a : b; }

/* Worker `worker` of `workers` owns these rows of the grid, boundary rows included. */
static inline jacobi_rows jacobi_own_rows(size_t size, size_t worker, size_t workers) {
  return (jacobi_rows){size * worker / workers, size * (worker + 1) / workers};
}

/* Those of them that change. */
static inline jacobi_rows jacobi_inner_rows(jacobi_rows own, size_t size) {
  return (jacobi_rows){jacobi_most(own.first, 1), jacobi_least(own.end, size - 1)};
}

/* The start: 1 on the upper edge, a ramp on the left one, 0 elsewhere. `row` is the row's number in
 * the grid. */
static inline void jacobi_fill_row(double* values, size_t row, size_t size) {
  for (size_t x = 0; x < size; x++) values[x] = row == 0 ? 1.0 : 0.0;
  values[0] = 1.0 - (double)row / (double)size;
}

/* One row of a five-point sweep. */
static inline void jacobi_sweep_row(const double* restrict above, const double* restrict row,
                                    const double* restrict below, double* restrict to,
                                    size_t size) {
  for (size_t x = 1; x + 1 < size; x++) {
    to[x] = 0.25 * ((above[x] + below[x]) + (row[x - 1] + row[x + 1]));
  }
}

/* Rows [rows.first, rows.end) of `to` from `from`, both `size` doubles a row; row 0 of the arrays
 * is grid row 0. */
static inline void jacobi_sweep(const double* from, double* to, jacobi_rows rows, size_t size) {
  for (size_t y = rows.first; y < rows.end; y++) {
    const double* row = from + y * size;
    jacobi_sweep_row(row - size, row, row + size, to + y * size, size);
  }
}

#endif
