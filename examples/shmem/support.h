#pragma once

#include <shmem.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the examples share: options, ends with a sentence, time, random numbers. All PEs call these
 * functions in the same way, after shmem_init. */

/* Ends the job on all PEs with this status; PE 0 says why, in one sentence. */
static inline void end_job(int status, const char* format, ...) {
  if (shmem_my_pe() == 0) {
    FILE* stream = status == 0 ? stdout : stderr;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fflush(stream);
    shmem_global_exit(status);
  }
  shmem_barrier_all();
}

/* An option `--name NUMBER` of a program, with its default in `value`. */
typedef struct {
  const char* name;
  const char* tells;
  long least, most;
  long value;
} Option;

static inline void print_help(const char* program, const char* tells, const Option* options,
                              int count) {
  if (shmem_my_pe() == 0) {
    printf("Usage: oshrun -n PES %s [OPTIONS]\n%s\n", program, tells);
    for (int i = 0; i < count; i++) {
      printf("  --%-12s %s (default %ld)\n", options[i].name, options[i].tells, options[i].value);
    }
  }
  end_job(0, "");
}

/* Reads the command line into the options. Anything wrong, and --help, end the job. */
static inline void read_options(int argc, char** argv, const char* tells, Option* options,
                                int count) {
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) print_help(argv[0], tells, options, count);
    Option* option = options;
    while (option < options + count &&
           (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, option->name) != 0)) {
      option++;
    }
    if (option == options + count) {
      end_job(2, "%s: no option '%s'; --help tells which there are\n", argv[0], argv[i]);
    }
    char* end = NULL;
    option->value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    if (end == NULL || end == argv[i + 1] || *end != '\0' || option->value < option->least ||
        option->value > option->most) {
      end_job(2, "%s: --%s needs a number from %ld to %ld\n", argv[0], option->name, option->least,
              option->most);
    }
  }
}

/* Symmetric memory, zeroed; the job ends where there is not so much. */
static inline void* allocate(size_t count, size_t bytes_each) {
  void* memory = shmem_calloc(count, bytes_each);
  if (memory == NULL) {
    end_job(1, "%zu bytes of symmetric memory are more than there is; take a smaller problem\n",
            count * bytes_each);
  }
  return memory;
}

/* Memory of this PE alone, zeroed. */
static inline void* allocate_private(size_t count, size_t bytes_each) {
  void* memory = calloc(count > 0 ? count : 1, bytes_each);
  if (memory == NULL) {
    fprintf(stderr, "PE %d: %zu bytes of memory are more than there is; take a smaller problem\n",
            shmem_my_pe(), count * bytes_each);
    shmem_global_exit(1);
  }
  return memory;
}

static inline double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* splitmix64 (Steele, Lea, Flood 2014): the same state gives the same numbers on every machine. */
static inline uint64_t random_number(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
