// Regions that access the same bytes with and without an order.
// Usage: checked_program none | race | read
#include <omp.h>
#include <stdio.h>
#include <string.h>

double from[20000], to[20000];
int last;

static int fib(int n) {
  int x = 0, y = 0;
  if (n < 2) return n;
#pragma omp task shared(x) if (n > 8)
  x = fib(n - 1);
#pragma omp task shared(y) if (n > 8)
  y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}

static int in_order(void) {
  double sum = 0;
  long hits = 0;
  int inside = 0, tasks = 0, chosen = 0;
#pragma omp parallel for
  for (int i = 0; i < 20000; ++i) from[i] = i;
  for (int round = 0; round < 5; ++round) {
#pragma omp parallel for
    for (int i = 1; i < 19999; ++i) to[i] = (from[i - 1] + from[i + 1]) / 2;
#pragma omp parallel for
    for (int i = 1; i < 19999; ++i) from[i] = to[i];
  }
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 20000; ++i) sum += from[i];
#pragma omp parallel
  {
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
      ++hits;
    }
    for (int i = 0; i < 50; ++i) {
#pragma omp critical
      ++inside;
    }
#pragma omp barrier
#pragma omp single
    {
      chosen = inside;
      tasks = fib(12);
    }
#pragma omp for schedule(dynamic, 100)
    for (int i = 0; i < 20000; ++i) to[i] = from[i] * 2;
#pragma omp sections
    {
#pragma omp section
      last = 1;
#pragma omp section
      from[0] = 3;
    }
  }
  int threads = omp_get_max_threads();
  return sum == 199990000 && hits == 100 * threads && chosen == 50 * threads && tasks == 144;
}

static int race(void) {
#pragma omp parallel
  {
#pragma omp barrier
    last = 5 + omp_get_thread_num();
  }
  return last >= 5;
}

// Node 1's first thread reads what node 0's writes.
static int read_in_no_order(void) {
  int seen = 0;
#pragma omp parallel reduction(+ : seen)
  {
#pragma omp barrier
    if (omp_get_thread_num() == 0) last = 7;
    if (omp_get_thread_num() == 1) seen = last;
  }
  return seen == 0 || seen == 7;
}

int main(int argc, char** argv) {
  int races = argc > 1 && strcmp(argv[1], "race") == 0;
  int reads = argc > 1 && strcmp(argv[1], "read") == 0;
  int good = races ? race() : reads ? read_in_no_order() : in_order();
  puts(good ? "good" : "bad");
  return !good;
}
