/* What the Jacobi programs share beside the kernel: options, clock, and the line that they print.
 */
#ifndef TERRANE_BENCH_JACOBI_PROGRAM_H
#define TERRANE_BENCH_JACOBI_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

typedef enum jacobi_init { JACOBI_INIT_OWN, JACOBI_INIT_MASTER } jacobi_init;

typedef struct jacobi_options {
  size_t size;       /* rows and columns of the grid, boundary included */
  size_t iterations; /* of one run */
  size_t repeat;     /* runs in one process */
  size_t threads;    /* of this process; programs without threads refuse other values than 1 */
  jacobi_init init;  /* every worker fills its own rows of the grid, or worker 0 all of them */
  int trace;         /* print every iteration's time too */
} jacobi_options;

/* What worker 0 measured in one run, all in nanoseconds. */
typedef struct jacobi_run {
  uint64_t* iteration_ns; /* `iterations` of them */
  uint64_t
      scatter_ns;   /* handing out the grid that the master filled; 0 where nothing is to be done */
  uint64_t loop_ns; /* all iterations, from barrier to barrier */
  uint64_t gather_ns; /* until the master has the result in its private memory; 0 where it has it */
  uint64_t checksum;  /* of the result's bits */
} jacobi_run;

/* Parses the command line. On a mistake or --help prints what is to be said if `speak`, and returns
 * the exit status; -1 when the program shall run. */
int jacobi_parse(int argc, char** argv, int speak, jacobi_options* out);

/* CLOCK_MONOTONIC. */
uint64_t jacobi_now_ns(void);

/* FNV-1a over the bits of `count` doubles: equal for programs that computed the same. */
uint64_t jacobi_checksum(const double* values, size_t count);

/* One line of `key=value` pairs on stdout; with --trace a line for each iteration before it. Sorts
 * iteration_ns. */
void jacobi_print(const char* program, const jacobi_options* options, size_t processes,
                  size_t repeat, jacobi_run* run);

/* Fresh memory from the system, untouched at every run (free() would keep pages that the last run
 * touched); a sentence and exit(1) when there is none. */
void* jacobi_allocate(size_t bytes);
void jacobi_release(void* memory, size_t bytes);

#endif
