// A library that library_program.c opens while it runs.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

long add_to_total(long amount);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum = 100;
static int constructed;
static int* made;
static char scratch[100000];  // zeros, which are in no file
long table[1000] = {1, 2, 3};

__attribute__((constructor)) static void begin(void) {
  ++constructed;
  made = malloc(sizeof *made);
  *made = 42;
}

__attribute__((destructor)) static void end(void) { printf("the library ends with %ld\n", sum); }

void* opened_thread(void* number) {
  pthread_mutex_lock(&mutex);
  sum += (long)number;
  table[(long)number]++;
  scratch[99999] += 1;
  add_to_total((long)number);
  pthread_mutex_unlock(&mutex);
  return *made == 42 && constructed == 1 ? table + 2 : NULL;
}

long opened_sum(void) { return sum + scratch[99999]; }
int* opened_memory(void) { return malloc(sizeof(int)); }
