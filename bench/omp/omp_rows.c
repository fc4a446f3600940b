/* Costs of OpenMP's constructs, and kernels, for bench_omp.py. It knows nothing of Terrane but for
 * the mapping of one kernel's arrays.
 * Usage: terrane_bench_omp_rows [constructs|ep|cg|ft|laplace]. A line is: NAME TIME us|s CHECKSUM.
 */
#include <complex.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/omp.h>

enum { kTurns = 2000, kWarmUp = 200 };

static double started;
static int turn;

/* Runs STATEMENT a number of times, and prints what one takes. */
#define MEASURE(NAME, STATEMENT)                 \
  for (turn = -kWarmUp; turn < kTurns; turn++) { \
    if (turn == 0) started = omp_get_wtime();    \
    STATEMENT;                                   \
  }                                              \
  printf("%s %.3f us 0\n", NAME, (omp_get_wtime() - started) * 1e6 / kTurns)

/* The same within a region. */
#define MEASURE_INSIDE(NAME, STATEMENT)                                         \
  _Pragma("omp parallel") {                                                     \
    double begin = 0;                                                           \
    for (int i = -kWarmUp; i < kTurns; i++) {                                   \
      if (i == 0) begin = omp_get_wtime();                                      \
      STATEMENT;                                                                \
    }                                                                           \
    if (omp_get_thread_num() == 0)                                              \
      printf("%s %.3f us 0\n", NAME, (omp_get_wtime() - begin) * 1e6 / kTurns); \
  }

static void constructs(void) {
  static double pages[8][512];
  static long named;
  double sum = 0, a = 1, b = 2;
  MEASURE(
      "region", _Pragma("omp parallel") { __asm__ volatile(""); });
  MEASURE("region-with-8-changed-pages", {
    for (int i = 0; i < 8; i++) pages[i][0] = a + turn;
    _Pragma("omp parallel firstprivate(a, b)") { __asm__ volatile("" ::"m"(a), "m"(b)); }
  });
  MEASURE("reduction", _Pragma("omp parallel reduction(+ : sum)") sum += 1);
  MEASURE_INSIDE("barrier", _Pragma("omp barrier"));
  MEASURE_INSIDE(
      "single", _Pragma("omp single") { __asm__ volatile(""); });
  MEASURE_INSIDE("critical", _Pragma("omp critical") named++);
  MEASURE_INSIDE(
      "dynamic-chunk", _Pragma("omp for schedule(dynamic) nowait") for (int j = 0; j < 2; j++) {
        __asm__ volatile("");
      });
}

/* Pairs of random numbers in a circle: no thread needs another's memory. */
static double ep(void) {
  enum { kBlocks = 1024, kPairs = 1 << 15 };
  long inside = 0;
#pragma omp parallel for reduction(+ : inside)
  for (int block = 0; block < kBlocks; block++) {
    unsigned long long state = 88172645463325252ull + 1000003ull * (unsigned long long)block;
    for (int i = 0; i < kPairs; i++) {
      double at[2];
      for (int j = 0; j < 2; j++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        at[j] = (double)(state >> 11) * 0x1p-53;
      }
      double length = at[0] * at[0] + at[1] * at[1];
      if (length < 1 && sqrt(-2 * log(length) / length) * at[0] < 2) inside++;
    }
  }
  return (double)inside;
}

/* The largest eigenvalue of a sparse matrix: a vector is read at random places, as in conjugate
 * gradients. */
static double cg(void) {
  enum { kRows = 14000, kEntries = 132, kIterations = 150 };
  int(*columns)[kEntries] = malloc(sizeof(int[kRows][kEntries]));
  double(*values)[kEntries] = malloc(sizeof(double[kRows][kEntries]));
  double *p = malloc(kRows * sizeof *p), *q = malloc(kRows * sizeof *q);
#pragma omp parallel for
  for (int i = 0; i < kRows; i++) {
    unsigned state = 12345u + 2654435761u * (unsigned)i;
    for (int j = 0; j < kEntries; j++) {
      state = state * 1664525u + 1013904223u;
      columns[i][j] = j == 0 ? i : (int)(state % kRows);
      values[i][j] = j == 0 ? 40 : 1.0 / (1 + j);
    }
    p[i] = 1 + i % 7;
  }
  double largest = 0;
  for (int iteration = 0; iteration < kIterations; iteration++) {
    double product = 0, squares = 0;
#pragma omp parallel
    {
#pragma omp for reduction(+ : product)
      for (int i = 0; i < kRows; i++) {
        double sum = 0;
        for (int j = 0; j < kEntries; j++) sum += values[i][j] * p[columns[i][j]];
        q[i] = sum;
        product += p[i] * sum;
      }
#pragma omp for reduction(+ : squares)
      for (int i = 0; i < kRows; i++) squares += q[i] * q[i];
      double length = sqrt(squares);
#pragma omp for
      for (int i = 0; i < kRows; i++) p[i] = q[i] / length;
    }
    largest = product;
  }
  free(columns), free(values), free(p), free(q);
  return largest;
}

enum { kSide = 512 };

static void transform(double complex* row) {
  for (int i = 1, j = 0; i < kSide; i++) {
    int bit = kSide >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      double complex kept = row[i];
      row[i] = row[j], row[j] = kept;
    }
  }
  for (int length = 2; length <= kSide; length *= 2) {
    double complex root = cexp(-2 * 3.14159265358979323846 * I / length);
    for (int i = 0; i < kSide; i += length) {
      double complex w = 1;
      for (int j = i; j < i + length / 2; j++, w *= root) {
        double complex odd = w * row[j + length / 2];
        row[j + length / 2] = row[j] - odd;
        row[j] += odd;
      }
    }
  }
}

/* Fourier transforms of rows, a transposition, and again: each thread reads all others' memory. */
static double ft(void) {
  double complex(*a)[kSide] = malloc(sizeof(double complex[kSide][kSide]));
  double complex(*b)[kSide] = malloc(sizeof(double complex[kSide][kSide]));
#pragma omp parallel for
  for (int i = 0; i < kSide; i++)
    for (int j = 0; j < kSide; j++) a[i][j] = (i * 31 + j * 17) % 64 / 64.0;
  for (int iteration = 0; iteration < 20; iteration++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < kSide; i++) transform(a[i]);
#pragma omp for
      for (int i = 0; i < kSide; i++)
        for (int j = 0; j < kSide; j++) b[i][j] = a[j][i] / sqrt(kSide);
#pragma omp for
      for (int i = 0; i < kSide; i++) memcpy(a[i], b[i], sizeof a[i]);
    }
  }
  double sum = 0;
  for (int i = 0; i < kSide; i++)
    for (int j = 0; j < kSide; j++) sum += cabs(a[i][j]);
  free(a), free(b);
  return sum;
}

enum { kGrid = 1024, kSweeps = 50 };
typedef double Grid[kGrid][kGrid];

/* Omni/SCASH's Laplace: the mean of four neighbours, and a copy back. */
static double relax(Grid u, Grid v) {
#pragma omp parallel for
  for (int i = 0; i < kGrid; i++)
    for (int j = 0; j < kGrid; j++) u[i][j] = v[i][j] = sin(i * 0.01) + cos(j * 0.01);
  for (int sweep = 0; sweep < kSweeps; sweep++) {
#pragma omp parallel
    {
#pragma omp for
      for (int i = 1; i < kGrid - 1; i++)
        for (int j = 1; j < kGrid - 1; j++) v[i][j] = u[i][j];
#pragma omp for
      for (int i = 1; i < kGrid - 1; i++)
        for (int j = 1; j < kGrid - 1; j++)
          u[i][j] = (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]) / 4;
    }
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < kGrid; i++)
    for (int j = 0; j < kGrid; j++) sum += v[i][j] - u[i][j];
  return sum;
}

static Grid plain_u, plain_v, mapped_u, mapped_v;

static double laplace(void) { return relax(plain_u, plain_v); }

static double laplace_mapped(void) {
  terrane_map(mapped_u, TERRANE_BLOCK, TERRANE_ALL);
  terrane_map(mapped_v, TERRANE_BLOCK, TERRANE_ALL);
  return relax(mapped_u, mapped_v);
}

static void show(const char* name, double (*kernel)(void)) {
  double begin = omp_get_wtime(), checksum = kernel();
  printf("%s %.4f s %.9e\n", name, omp_get_wtime() - begin, checksum);
}

int main(int argc, char** argv) {
  const char* asked = argc > 1 ? argv[1] : "all";
  int all = strcmp(asked, "all") == 0;
  if (all || strcmp(asked, "constructs") == 0) constructs();
  if (all || strcmp(asked, "ep") == 0) show("ep", ep);
  if (all || strcmp(asked, "cg") == 0) show("cg", cg);
  if (all || strcmp(asked, "ft") == 0) show("ft", ft);
  if (all || strcmp(asked, "laplace") == 0) {
    show("laplace", laplace);
    show("laplace-mapped", laplace_mapped);
  }
}
