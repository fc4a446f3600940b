/* A node that stops, and those beside it: bench_clusters.py.
 *
 * Usage: terrane_bench_stall_rows SECONDS STALL, on 2 x 3 PEs in two clusters.
 * PE 2 puts 64 KiB to PE 4 for so many seconds, again and again. STALL 1: meanwhile PE 1 puts 32
 * MiB to PE 3, which is stopped. What PE 2 reaches is printed. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { kBytes = 64 * 1024, kFlight = 16, kMore = 512 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* This process stops, and a child lets it go on after so many seconds. */
static void stop_for(double seconds) {
  pid_t self = getpid();
  pid_t child = fork();
  if (child == 0) {
    struct timespec rest = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&rest, NULL);
    kill(self, SIGCONT);
    _exit(0);
  }
  if (child < 0) {
    perror("stall_rows: fork");
    _Exit(1);
  }
  raise(SIGSTOP);
}

/* Puts to a PE until the time is over. Returns how many bytes have come there. */
static double put_for(char* to, const char* from, int pe, double seconds) {
  double bytes = 0;
  for (double end = now() + seconds; now() < end; bytes += (double)kBytes * kFlight) {
    for (int i = 0; i < kFlight; i++) shmem_putmem(to + i * kBytes, from, kBytes, pe);
    shmem_quiet();
  }
  return bytes;
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 0;
  int stalls = argc > 2 && atoi(argv[2]) == 1;
  if (argc < 3 || seconds <= 0) {
    fprintf(stderr, "usage: %s SECONDS STALL\n", argv[0]);
    return 2;
  }
  shmem_init();
  if (shmem_n_pes() != 6) {
    fprintf(stderr, "stall_rows: this needs 6 PEs\n");
    shmem_global_exit(2);
  }
  char* to = shmem_malloc((size_t)kBytes * kFlight);
  char* from = malloc(kBytes);
  memset(from, 1, kBytes);
  put_for(to, from, (shmem_my_pe() + 3) % 6, 0.2);
  shmem_barrier_all();
  int me = shmem_my_pe();
  if (me == 3 && stalls) stop_for(seconds);
  for (int i = 0; me == 1 && stalls && i < kMore; i++) shmem_putmem(to, from, kBytes, 3);
  if (me == 2) {
    struct timespec rest = {0, stalls ? 300000000 : 0}; /* the way to PE 3 is full by then */
    nanosleep(&rest, NULL);
    double start = now();
    double bytes = put_for(to, from, 4, seconds - 0.5);
    printf("row=stall mbs=%.1f\n", bytes / (now() - start) / 1e6);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
