#include "kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/anl.h>
#include <unistd.h>

EXTERN_ENV;

enum { kPage = 4096 };

static const char* kernel_name = "kernel";

void kernel_fail(const char* sentence, ...) {
  va_list arguments;
  va_start(arguments, sentence);
  fprintf(stderr, "%s: ", kernel_name);
  vfprintf(stderr, sentence, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(1);
}

static void print_help(const char* about, const struct kernel_option* options) {
  printf("%s: %s\n", kernel_name, about);
  for (const struct kernel_option* option = options; option->letter != 0; option++) {
    printf("  -%c N  %s (%ld)\n", option->letter, option->meaning, *option->value);
  }
  exit(0);
}

static void read_number(const struct kernel_option* option, const char* text) {
  char* end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (end == text || *end != 0 || errno != 0 || number < option->least || number > option->most) {
    kernel_fail("-%c %s: %s is a number from %ld to %ld", option->letter, text, option->meaning,
                option->least, option->most);
  }
  *option->value = number;
}

void kernel_options(int argc, char** argv, const char* about, const struct kernel_option* options) {
  char letters[64] = ":h";
  const char* slash = strrchr(argv[0], '/');
  kernel_name = slash != NULL ? slash + 1 : argv[0];
  for (const struct kernel_option* option = options; option->letter != 0; option++) {
    const size_t used = strlen(letters);
    snprintf(letters + used, sizeof letters - used, "%c:", option->letter);
  }
  int letter;
  while ((letter = getopt(argc, argv, letters)) != -1) {
    if (letter == 'h') print_help(about, options);
    if (letter == ':') kernel_fail("-%c needs a number; -h lists the options", optopt);
    if (letter == '?') kernel_fail("unknown option -%c; -h lists the options", optopt);
    const struct kernel_option* option = options;
    while (option->letter != letter) option++;
    read_number(option, optarg);
  }
  if (optind < argc) kernel_fail("unknown argument '%s'; -h lists the options", argv[optind]);
}

void* kernel_allocate(size_t count, size_t bytes) {
  char* memory = (char*)G_MALLOC(count * bytes + kPage);
  if (memory == NULL) kernel_fail("no memory for %zu objects of %zu bytes", count, bytes);
  return memory + (kPage - (uintptr_t)memory % kPage) % kPage;
}

struct kernel_share kernel_share_of(long total, long me, long workers) {
  const struct kernel_share share = {total * me / workers, total * (me + 1) / workers};
  return share;
}

uint64_t kernel_random_bits(uint64_t seed, uint64_t index) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u;
  x = (x ^ (x >> 32)) * 0xbea225f9eb34556du;
  x = (x ^ (x >> 29)) * 0xbea225f9eb34556du;
  return x ^ (x >> 32);
}

double kernel_random(uint64_t seed, uint64_t index) {
  return (double)(kernel_random_bits(seed, index) >> 11) * 0x1p-53;
}

void kernel_report(unsigned long begin, unsigned long end, int is_right, const char* sentence,
                   ...) {
  va_list arguments;
  va_start(arguments, sentence);
  printf("time %.6f s without initialisation\n", (double)(end - begin) * 1e-6);
  printf(is_right ? "verified: " : "%s FAILED: ", kernel_name);
  vprintf(sentence, arguments);
  printf("\n");
  va_end(arguments);
  fflush(stdout);
  if (!is_right) exit(1);
}
