/* An OpenMP program that knows nothing of Terrane: atomic words and allocators. Each mode prints
 * "good" where all results are right, for any number of threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  wrong = 1;
}

/* Atomic constructs on words of all sizes; others are written beside them meanwhile. */
static struct {
  unsigned char tiny, beside;
  short small;
  int whole;
  long wide;
  float single;
  double pair;
  unsigned char bits;
} words;
static int tickets[64 * 100];

static void atomics(void) {
  int threads = 0, mine = 1, next = 0, most = -1;
  memset(&words, 0, sizeof words);
  words.bits = 255;
  words.beside = 7;
#pragma omp parallel reduction(&& : mine)
  {
    int me = omp_get_thread_num();
#pragma omp master
    threads = omp_get_num_threads();
    for (int i = 0; i < 100; i++) {
      int ticket = 0, before = 0;
#pragma omp atomic
      words.tiny += 1;
#pragma omp atomic
      words.small -= 3;
#pragma omp atomic
      words.whole += 5;
#pragma omp atomic
      words.wide ^= 1l << (me % 60);
#pragma omp atomic
      words.single += 0.5f;
#pragma omp atomic
      words.pair *= 1.0;
#pragma omp atomic
      words.pair += 0.25;
#pragma omp atomic
      words.bits &= (unsigned char)~(1 << (me % 4));
#pragma omp atomic capture
      ticket = next++;
      tickets[ticket]++;
#pragma omp atomic read
      before = next;
      mine = mine && before > ticket;
      if (me == 0) words.beside++;
    }
#pragma omp critical
    if (me > most) most = me;
  }
  int once = 1, bits = 255;
  for (int i = 0; i < 100 * threads; i++) once = once && tickets[i] == 1;
  for (int t = 0; t < threads; t++) bits &= ~(1 << (t % 4));
  expect(words.tiny == (100 * threads) % 256 && words.small == (short)(-300 * threads) &&
             words.whole == 500 * threads && words.wide == 0,
         "atomic updates of integers");
  expect(words.single == 50.f * threads && words.pair == 25. * threads, "of real numbers");
  expect(words.bits == bits && words.beside == 107, "of bytes");
  expect(once && mine && next == 100 * threads && most == threads - 1, "capture and read");
  memset(tickets, 0, sizeof tickets);
}

/* What a thread wrote before a release of an atomic word is seen behind an acquire of it. */
static void ordered_atomics(void) {
  static int data[64], ready[64];
  int good = 1;
  memset(data, 0, sizeof data), memset(ready, 0, sizeof ready);
#pragma omp parallel num_threads(4) reduction(&& : good)
  {
    int me = omp_get_thread_num(), threads = omp_get_num_threads();
    for (int round = 1; round <= 50; round++) {
      if (me > 0) {
        int seen = 0;
        while (seen < round) seen = __atomic_load_n(&ready[me - 1], __ATOMIC_ACQUIRE);
        good = good && data[me - 1] >= round;
      }
      data[me] = round;
      __atomic_store_n(&ready[me], round, __ATOMIC_RELEASE);
    }
    good = good && threads == omp_get_num_threads();
  }
  expect(good, "atomics with an order");
}

/* Rows that are written in turn by all threads, as a static loop deals them, or not. */
enum { kRows = 64, kColumns = 512 }; /* a page each */

static void fill(double (*rows)[kColumns], int turn) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) rows[i][j] += i + j + turn;
}

static omp_allocator_handle_t make(omp_alloctrait_value_t partition) {
  omp_alloctrait_t traits[] = {{omp_atk_alignment, 64}, {omp_atk_partition, partition}};
  return omp_init_allocator(omp_default_mem_space, 2, traits);
}

static void check_rows(double (*rows)[kColumns], const char* what) {
  int good = 1;
  for (int turn = 0; turn < 10; turn++) fill(rows, turn);
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) good = good && rows[i][j] == 10. * (i + j) + 45;
  expect(good, what);
}

static void partitions(void) {
  static const omp_alloctrait_value_t kAll[] = {omp_atv_environment, omp_atv_nearest,
                                                omp_atv_blocked, omp_atv_interleaved};
  for (int i = 0; i < 4; i++) {
    omp_allocator_handle_t allocator = make(kAll[i]);
    expect(allocator != omp_null_allocator, "an allocator");
    double(*rows)[kColumns] = omp_calloc(kRows, sizeof *rows, allocator);
    expect(rows != NULL && (uintptr_t)rows % 64 == 0, "its memory");
    check_rows(rows, "what is in it");
    rows = omp_realloc(rows, 2 * kRows * sizeof *rows, allocator, allocator);
    expect(rows[kRows - 1][1] == 10. * kRows + 45, "and in more of it");
    omp_free(rows, omp_null_allocator);
    char* small = omp_alloc(10, allocator);
    memset(small, i, 10);
    omp_free(small, allocator);
    omp_destroy_allocator(allocator);
  }
}

/* Each node's rows are at home there: one line of the report of regions for each partition. */
static void homes(omp_alloctrait_value_t partition) {
  omp_allocator_handle_t allocator = make(partition);
  double(*rows)[kColumns] = omp_calloc(kRows, sizeof *rows, allocator);
  check_rows(rows, "rows");
  omp_free(rows, allocator);
}

/* What is not enough, or not right. */
static void limits(void) {
  omp_alloctrait_t small[] = {{omp_atk_pool_size, 10000}, {omp_atk_fallback, omp_atv_null_fb}};
  omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, small);
  void* first = omp_alloc(6000, allocator);
  expect(first != NULL && omp_alloc(6000, allocator) == NULL, "a pool that is empty");
  omp_free(first, allocator);
  first = omp_alloc(6000, allocator);
  expect(first != NULL, "a pool that is full again");
  omp_alloctrait_t other[] = {{omp_atk_pool_size, 1},
                              {omp_atk_fallback, omp_atv_allocator_fb},
                              {omp_atk_fb_data, (omp_uintptr_t)allocator}};
  omp_allocator_handle_t behind = omp_init_allocator(omp_default_mem_space, 3, other);
  void* second = omp_alloc(3000, behind);
  expect(second != NULL && omp_alloc(3000, behind) == NULL, "the fallback");
  omp_free(second, behind), omp_free(first, allocator);
  expect(omp_alloc(0, allocator) == NULL, "no bytes");
  omp_alloctrait_t odd[] = {{omp_atk_alignment, 3}};
  expect(omp_init_allocator(omp_default_mem_space, 1, odd) == omp_null_allocator, "an alignment");
  omp_alloctrait_t no[] = {{omp_atk_partition, omp_atv_true}};
  expect(omp_init_allocator(omp_default_mem_space, 1, no) == omp_null_allocator, "a partition");
  void* aligned = omp_aligned_alloc(4096, 100, omp_default_mem_alloc);
  expect((uintptr_t)aligned % 4096 == 0, "alignment");
  omp_free(aligned, omp_default_mem_alloc);
  omp_destroy_allocator(behind), omp_destroy_allocator(allocator);
}

/* What `deallocate` of gfortran 14 asks: the functions are called by name, since older compilers
 * have none. */
static void scalars_of_fortran(void) {
  void (*add)(void*) = (void (*)(void*))dlsym(RTLD_DEFAULT, "GOMP_add_alloc");
  bool (*is_one)(void*) = (bool (*)(void*))dlsym(RTLD_DEFAULT, "GOMP_is_alloc");
  static void* scalars[64];
  if (add == NULL || is_one == NULL) return;
  int threads = 1, bad = 0;
#pragma omp parallel reduction(+ : bad)
  {
    int me = omp_get_thread_num() % 64, size = omp_get_num_threads();
    void* plain = malloc(8);
    scalars[me] = omp_alloc(8, omp_default_mem_alloc);
    add(scalars[me]);
    if (is_one(plain)) bad++;
    free(plain);
#pragma omp master
    threads = size;
#pragma omp barrier
    void* next = scalars[(me + 1) % size];
    if (!is_one(next) || is_one(next)) bad++;
    omp_free(next, omp_default_mem_alloc);
  }
  expect(bad == 0 && threads > 0, "a scalar of an allocator is known to all threads, once");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kModes[] = {{"atomics", atomics},
                {"ordered_atomics", ordered_atomics},
                {"partitions", partitions},
                {"limits", limits},
                {"scalars_of_fortran", scalars_of_fortran}};
  const char* asked = argc > 1 ? argv[1] : "all";
  if (strcmp(asked, "nearest") == 0) homes(omp_atv_nearest);
  if (strcmp(asked, "interleaved") == 0) homes(omp_atv_interleaved);
  for (unsigned i = 0; i < sizeof kModes / sizeof kModes[0]; i++)
    if (strcmp(asked, "all") == 0 || strcmp(asked, kModes[i].name) == 0) kModes[i].run();
  if (!wrong) printf("good\n");
  return wrong;
}
