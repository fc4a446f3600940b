#include "jacobi_program.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kWarmUpIterations = 2 };

static const char kUsage[] =
    "Five-point Jacobi on a square of doubles, rows split among the workers.\n"
    "  --size N          rows and columns (default 1024)\n"
    "  --iterations N    iterations of a run (default 50)\n"
    "  --repeat N        runs (default 1)\n"
    "  --init own|master every worker fills its own rows, or worker 0 all (default own)\n"
    "  --threads N       threads of a process (default 1)\n"
    "  --trace           print every iteration's time too\n"
    "  --help            print this\n";

static const struct option kOptions[] = {
    {"size", required_argument, NULL, 's'},    {"iterations", required_argument, NULL, 'i'},
    {"repeat", required_argument, NULL, 'r'},  {"init", required_argument, NULL, 'm'},
    {"threads", required_argument, NULL, 't'}, {"trace", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};

static int parse_count(const char* text, size_t least, size_t most, size_t* out) {
  char* end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || *text == '-') return 0;
  if (value < least || value > most) return 0;
  *out = (size_t)value;
  return 1;
}

static int parse_init(const char* text, jacobi_init* out) {
  if (strcmp(text, "own") != 0 && strcmp(text, "master") != 0) return 0;
  *out = strcmp(text, "own") == 0 ? JACOBI_INIT_OWN : JACOBI_INIT_MASTER;
  return 1;
}

static int take(int option, jacobi_options* out) {
  switch (option) {
    case 's':
      return parse_count(optarg, 3, 1 << 16, &out->size);
    case 'i':
      return parse_count(optarg, 1, 100000000, &out->iterations);
    case 'r':
      return parse_count(optarg, 1, 1000000, &out->repeat);
    case 't':
      return parse_count(optarg, 1, 1024, &out->threads);
    case 'm':
      return parse_init(optarg, &out->init);
    case 'v':
      out->trace = 1;
      return 1;
    default:
      return 0;
  }
}

int jacobi_parse(int argc, char** argv, int speak, jacobi_options* out) {
  *out = (jacobi_options){.size = 1024, .iterations = 50, .repeat = 1, .threads = 1};
  opterr = 0;
  for (;;) {
    const int option = getopt_long(argc, argv, "", kOptions, NULL);
    if (option == -1) break;
    if (option == 'h') {
      if (speak) fputs(kUsage, stdout);
      return 0;
    }
    if (!take(option, out)) {
      if (speak)
        fprintf(stderr, "%s: wrong option or value '%s'; see --help\n", argv[0], argv[optind - 1]);
      return 2;
    }
  }
  if (optind < argc) {
    if (speak) fprintf(stderr, "%s: '%s' is not an option; see --help\n", argv[0], argv[optind]);
    return 2;
  }
  return -1;
}

uint64_t jacobi_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t jacobi_checksum(const double* values, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  return hash;
}

void* jacobi_allocate(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "jacobi: no memory for %zu bytes; choose a smaller --size\n", bytes);
    exit(1);
  }
  return memory;
}

void jacobi_release(void* memory, size_t bytes) { munmap(memory, bytes); }

static int compare_ns(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a;
  const uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

/* The median of iterations 3 to the last: the first two carry the page faults of fresh memory. */
static double median_us(uint64_t* iteration_ns, size_t count) {
  const size_t skipped = count > kWarmUpIterations ? kWarmUpIterations : 0;
  uint64_t* rest = iteration_ns + skipped;
  const size_t length = count - skipped;
  qsort(rest, length, sizeof *rest, compare_ns);
  return (double)(rest[(length - 1) / 2] + rest[length / 2]) / 2e3;
}

void jacobi_print(const char* program, const jacobi_options* options, size_t processes,
                  size_t repeat, jacobi_run* run) {
  for (size_t i = 0; options->trace && i < options->iterations; i++) {
    printf("iteration program=%s repeat=%zu number=%zu us=%.3f\n", program, repeat, i + 1,
           (double)run->iteration_ns[i] / 1e3);
  }
  uint64_t rest_ns = run->loop_ns; /* iterations 3 to the last */
  for (size_t i = 0; i < kWarmUpIterations && i < options->iterations; i++)
    rest_ns -= run->iteration_ns[i];
  printf("jacobi program=%s init=%s size=%zu iterations=%zu processes=%zu threads=%zu repeat=%zu",
         program, options->init == JACOBI_INIT_OWN ? "own" : "master", options->size,
         options->iterations, processes, options->threads, repeat);
  printf(" from3_us=%.1f median_us=%.3f scatter_us=%.1f loop_us=%.1f gather_us=%.1f total_us=%.1f",
         (double)rest_ns / 1e3, median_us(run->iteration_ns, options->iterations),
         (double)run->scatter_ns / 1e3, (double)run->loop_ns / 1e3, (double)run->gather_ns / 1e3,
         (double)(run->scatter_ns + run->loop_ns) / 1e3);
  printf(" checksum=%016llx\n", (unsigned long long)run->checksum);
  fflush(stdout);
}
