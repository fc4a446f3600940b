/* What all kernels share: their options, memory, random numbers, and how they report the result. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* An option with a whole number from `least` to `most`, given as -L NUMBER. */
struct kernel_option {
  char letter;
  const char* meaning;
  long* value; /* holds the default before, and the number of the command line after */
  long least;
  long most;
};

/* Reads the command line. `options` ends with a letter of 0. A wrong option ends the program with
 * one sentence; -h prints the options. */
void kernel_options(int argc, char** argv, const char* about, const struct kernel_option* options);

/* Prints "KERNEL: SENTENCE" on stderr and ends the program with exit code 1. */
void kernel_fail(const char* sentence, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Shared memory for `count` objects of `bytes` each, which begins on a page of its own. */
void* kernel_allocate(size_t count, size_t bytes);

/* The part [first, end) of something. */
struct kernel_share {
  long first;
  long end;
};

/* The part of `total` things that worker `me` of `workers` owns. */
struct kernel_share kernel_share_of(long total, long me, long workers);

/* A random number from 0 to 1 that depends on `seed` and `index` alone, so that any worker can make
 * any of them. */
double kernel_random(uint64_t seed, uint64_t index);
/* The same as 64 random bits. */
uint64_t kernel_random_bits(uint64_t seed, uint64_t index);

/* The last two lines of a run: the time from `begin` to `end` (microseconds, by CLOCK), and the
 * verdict. The program fails if `is_right` is 0; the sentence says what was compared. */
void kernel_report(unsigned long begin, unsigned long end, int is_right, const char* sentence, ...)
    __attribute__((format(printf, 4, 5)));

#endif
