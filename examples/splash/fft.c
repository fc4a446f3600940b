/* The six-step Fast Fourier Transform of D. Bailey (1990): n points as a matrix of sqrt(n) rows.
 *
 * Each worker owns consecutive rows. It transforms and scales its own rows without communication;
 * in the three transpositions it reads a part of every other worker's rows. With j = j1 m + j2 and
 * k = k2 m + k1, m = sqrt(n):
 *   X[k] = sum over j2 of W_m^(j2 k2) W_n^(j2 k1) (sum over j1 of W_m^(j1 k1) x[j])
 */
#include <math.h>
#include <stdio.h>
#include <terrane/anl.h>

#include "kernel.h"

MAIN_ENV;

enum { kSeed = 1, kTile = 8, kBins = 4 };

struct complex {
  double re;
  double im;
};

static struct {
  long workers;
  long points;
  long rows; /* m: the matrix is m x m */
  struct complex* data;
  struct complex* scratch;
  struct complex* twiddles; /* W_n^(j2 k1), row j2 */
  struct complex* roots;    /* W_m^k */
} fft = {1, 1 << 20, 0, NULL, NULL, NULL, NULL};

static struct shared {
  LOCKDEC(lock);
  BARDEC(barrier);
  long next_worker;
  unsigned long begin;
  unsigned long end;
  struct complex bins[kBins]; /* a few of the results */
  double error;               /* greatest difference after the inverse transform */
} * shared;

static struct complex multiply(struct complex a, struct complex b) {
  const struct complex product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return product;
}

static struct complex root_of_unity(long k, long n) {
  const double angle = -2 * M_PI * (double)k / (double)n;
  const struct complex root = {cos(angle), sin(angle)};
  return root;
}

static struct complex input(long index) {
  const struct complex number = {kernel_random(kSeed, 2 * (uint64_t)index) - 0.5,
                                 kernel_random(kSeed, 2 * (uint64_t)index + 1) - 0.5};
  return number;
}

static long bin_index(long bin) { return bin * (fft.points / kBins) + bin; }

/* One row in place, by decimation in time. `sign` -1: the inverse, not scaled. */
static void transform_row(struct complex* row, double sign) {
  const long m = fft.rows;
  for (long i = 1, j = 0; i < m; i++) {
    long bit = m >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const struct complex kept = row[i];
      row[i] = row[j];
      row[j] = kept;
    }
  }
  for (long length = 2; length <= m; length *= 2) {
    const long half = length / 2;
    const long stride = m / length;
    for (long begin = 0; begin < m; begin += length) {
      for (long k = 0; k < half; k++) {
        const struct complex root = {fft.roots[k * stride].re, sign * fft.roots[k * stride].im};
        struct complex* low = &row[begin + k];
        struct complex* high = low + half;
        const struct complex odd = multiply(root, *high);
        high->re = low->re - odd.re;
        high->im = low->im - odd.im;
        low->re += odd.re;
        low->im += odd.im;
      }
    }
  }
}

/* Own rows of `to` = columns of `from`, in tiles. Each worker begins with its own part, so that not
 * all read the same owner's rows at one time. */
static void transpose(struct complex* to, const struct complex* from, long me) {
  const struct kernel_share own = kernel_share_of(fft.rows, me, fft.workers);
  for (long turn = 0; turn < fft.workers; turn++) {
    const struct kernel_share other =
        kernel_share_of(fft.rows, (me + turn) % fft.workers, fft.workers);
    for (long tile = other.first; tile < other.end; tile += kTile) {
      const long end = tile + kTile < other.end ? tile + kTile : other.end;
      for (long row = own.first; row < own.end; row++) {
        for (long column = tile; column < end; column++) {
          to[row * fft.rows + column] = from[column * fft.rows + row];
        }
      }
    }
  }
}

static void scale_row(struct complex* row, const struct complex* twiddles, double sign) {
  for (long k = 0; k < fft.rows; k++) {
    const struct complex twiddle = {twiddles[k].re, sign * twiddles[k].im};
    row[k] = multiply(row[k], twiddle);
  }
}

/* fft.data to fft.data, by way of fft.scratch. */
static void six_steps(long me, double sign) {
  const struct kernel_share own = kernel_share_of(fft.rows, me, fft.workers);
  transpose(fft.scratch, fft.data, me);
  for (long row = own.first; row < own.end; row++) {
    transform_row(&fft.scratch[row * fft.rows], sign);
    scale_row(&fft.scratch[row * fft.rows], &fft.twiddles[row * fft.rows], sign);
  }
  BARRIER(shared->barrier, fft.workers);
  transpose(fft.data, fft.scratch, me);
  for (long row = own.first; row < own.end; row++) transform_row(&fft.data[row * fft.rows], sign);
  BARRIER(shared->barrier, fft.workers);
  transpose(fft.scratch, fft.data, me);
  BARRIER(shared->barrier, fft.workers);
  for (long i = own.first * fft.rows; i < own.end * fft.rows; i++) fft.data[i] = fft.scratch[i];
  BARRIER(shared->barrier, fft.workers);
}

static void fill_own_rows(long me) {
  const struct kernel_share own = kernel_share_of(fft.rows, me, fft.workers);
  for (long row = own.first; row < own.end; row++) {
    for (long column = 0; column < fft.rows; column++) {
      const long index = row * fft.rows + column;
      fft.data[index] = input(index);
      fft.scratch[index] = fft.data[index];
      fft.twiddles[index] = root_of_unity(row * column, fft.points);
    }
  }
}

static void find_error(long me) {
  const struct kernel_share own = kernel_share_of(fft.points, me, fft.workers);
  double error = 0;
  for (long i = own.first; i < own.end; i++) {
    const struct complex expected = input(i);
    error = fmax(error, fabs(fft.data[i].re / (double)fft.points - expected.re));
    error = fmax(error, fabs(fft.data[i].im / (double)fft.points - expected.im));
  }
  LOCK(shared->lock);
  shared->error = fmax(shared->error, error);
  UNLOCK(shared->lock);
}

static void worker(void) {
  LOCK(shared->lock);
  const long me = shared->next_worker++;
  UNLOCK(shared->lock);
  fill_own_rows(me);
  BARRIER(shared->barrier, fft.workers);
  if (me == 0) CLOCK(shared->begin);
  six_steps(me, 1);
  if (me == 0) {
    CLOCK(shared->end);
    for (long bin = 0; bin < kBins; bin++) shared->bins[bin] = fft.data[bin_index(bin)];
  }
  BARRIER(shared->barrier, fft.workers);
  six_steps(me, -1);
  find_error(me);
}

/* The greatest difference of the chosen results from their definition as a sum. */
static double bins_error(void) {
  double error = 0;
  for (long bin = 0; bin < kBins; bin++) {
    const long k = bin_index(bin);
    struct complex sum = {0, 0};
    for (long j = 0; j < fft.points; j++) {
      const struct complex term = multiply(input(j), root_of_unity(j * k % fft.points, fft.points));
      sum.re += term.re;
      sum.im += term.im;
    }
    error = fmax(error, hypot(sum.re - shared->bins[bin].re, sum.im - shared->bins[bin].im));
  }
  return error;
}

int main(int argc, char** argv) {
  const struct kernel_option options[] = {
      {'p', "processors", &fft.workers, 1, 1024},
      {'n', "points, a power of 4", &fft.points, 16, 1L << 30},
      {0, NULL, NULL, 0, 0},
  };
  MAIN_INITENV(, 80000000);
  kernel_options(argc, argv, "six-step Fast Fourier Transform of complex numbers", options);
  for (fft.rows = 4; fft.rows * fft.rows < fft.points;) fft.rows *= 2;
  if (fft.rows * fft.rows != fft.points) kernel_fail("-n %ld: this is no power of 4", fft.points);
  if (fft.workers > fft.rows) kernel_fail("-p %ld: at most one processor a row", fft.workers);

  shared = (struct shared*)kernel_allocate(1, sizeof *shared);
  shared->next_worker = 0;
  shared->error = 0;
  LOCKINIT(shared->lock);
  BARINIT(shared->barrier, fft.workers);
  fft.data = (struct complex*)kernel_allocate((size_t)fft.points, sizeof(struct complex));
  fft.scratch = (struct complex*)kernel_allocate((size_t)fft.points, sizeof(struct complex));
  fft.twiddles = (struct complex*)kernel_allocate((size_t)fft.points, sizeof(struct complex));
  fft.roots = (struct complex*)kernel_allocate((size_t)fft.rows, sizeof(struct complex));
  for (long k = 0; k < fft.rows; k++) fft.roots[k] = root_of_unity(k, fft.rows);

  CREATE(worker, fft.workers);
  WAIT_FOR_END(fft.workers);

  const double error = bins_error();
  const double bound = 1e-12 * (double)fft.points;
  kernel_report(shared->begin, shared->end, error < bound && shared->error < 1e-12,
                "%d results differ by %.1e from their sums, the inverse by %.1e from the input",
                kBins, error, shared->error);
  MAIN_END;
}
