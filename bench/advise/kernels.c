// Kernels whose time on two hosts bench_advise.py measures and forecasts. Each prints the seconds
// from the begin of main to its end. Usage: kernels jacobi|kmeans|product|transpose
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double* matrix(int side) { return malloc(sizeof(double) * (size_t)side * (size_t)side); }

// The mean of four neighbours, 40 times.
static double jacobi(void) {
  enum { kSide = 2000, kRounds = 40 };
  double *from = matrix(kSide), *to = matrix(kSide);
#pragma omp parallel for
  for (int i = 0; i < kSide * kSide; ++i) from[i] = to[i] = i < kSide ? 100 : i % 13;
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel for
    for (int i = 1; i < kSide - 1; ++i) {
      const double* at = from + i * kSide;
      for (int j = 1; j < kSide - 1; ++j)
        to[i * kSide + j] = 0.25 * (at[j - kSide] + at[j + kSide] + at[j - 1] + at[j + 1]);
    }
    double* other = from;
    from = to;
    to = other;
  }
  return from[kSide + 1];
}

// Points in eight dimensions go to the nearest of sixteen centres; sums are added in critical.
static double kmeans(void) {
  enum { kPoints = 400000, kCentres = 16, kWide = 8, kRounds = 20 };
  float* points = malloc(sizeof(float) * kPoints * kWide);
  double centres[kCentres][kWide];
#pragma omp parallel for
  for (int i = 0; i < kPoints; ++i)
    for (int d = 0; d < kWide; ++d)
      points[i * kWide + d] = (float)((unsigned)(i * kWide + d) * 2654435761u >> 8) / (1 << 24);
  for (int c = 0; c < kCentres; ++c)
    for (int d = 0; d < kWide; ++d) centres[c][d] = points[c * (kPoints / kCentres) * kWide + d];
  for (int round = 0; round < kRounds; ++round) {
    double sums[kCentres][kWide] = {{0}};
    long counts[kCentres] = {0};
#pragma omp parallel
    {
      double own[kCentres][kWide] = {{0}};
      long own_counts[kCentres] = {0};
#pragma omp for
      for (int i = 0; i < kPoints; ++i) {
        const float* point = points + i * kWide;
        int best = 0;
        double least = 1e30;
        for (int c = 0; c < kCentres; ++c) {
          double distance = 0;
          for (int d = 0; d < kWide; ++d)
            distance += (point[d] - centres[c][d]) * (point[d] - centres[c][d]);
          if (distance < least) least = distance, best = c;
        }
        ++own_counts[best];
        for (int d = 0; d < kWide; ++d) own[best][d] += point[d];
      }
#pragma omp critical
      for (int c = 0; c < kCentres; ++c) {
        counts[c] += own_counts[c];
        for (int d = 0; d < kWide; ++d) sums[c][d] += own[c][d];
      }
    }
    for (int c = 0; c < kCentres; ++c)
      for (int d = 0; counts[c] > 0 && d < kWide; ++d)
        centres[c][d] = sums[c][d] / (double)counts[c];
  }
  return centres[1][1];
}

// Main fills the factors.
static double product(void) {
  enum { kSide = 1000 };
  double *left = matrix(kSide), *right = matrix(kSide), *made = matrix(kSide);
  for (int i = 0; i < kSide * kSide; ++i) left[i] = i % 7, right[i] = i % 5, made[i] = 0;
#pragma omp parallel for
  for (int i = 0; i < kSide; ++i)
    for (int k = 0; k < kSide; ++k) {
      double factor = left[i * kSide + k];
      for (int j = 0; j < kSide; ++j) made[i * kSide + j] += factor * right[k * kSide + j];
    }
  return made[kSide + 1];
}

static double transpose(void) {
  enum { kSide = 1024, kRounds = 4 };
  double *from = matrix(kSide), *to = matrix(kSide);
#pragma omp parallel for
  for (int i = 0; i < kSide * kSide; ++i) from[i] = i, to[i] = 0;
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel for
    for (int i = 0; i < kSide; ++i)
      for (int j = 0; j < kSide; ++j) to[i * kSide + j] += from[j * kSide + i];
#pragma omp parallel for
    for (int i = 0; i < kSide * kSide; ++i) from[i] = 0.5 * to[i] + 1;
  }
  return from[kSide + 1];
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    double (*run)(void);
  } kKernels[] = {
      {"jacobi", jacobi}, {"kmeans", kmeans}, {"product", product}, {"transpose", transpose}};
  double begun = omp_get_wtime();
  for (unsigned i = 0; argc > 1 && i < sizeof kKernels / sizeof kKernels[0]; ++i) {
    if (strcmp(argv[1], kKernels[i].name) != 0) continue;
    double result = kKernels[i].run();
    printf("result=%.6f\nseconds=%.6f\n", result, omp_get_wtime() - begun);
    return 0;
  }
  fprintf(stderr, "kernels jacobi|kmeans|product|transpose\n");
  return 2;
}
