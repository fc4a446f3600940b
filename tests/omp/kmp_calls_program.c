/* kmp_*: functions that libomp has for programs, as omp.h of clang declares them. Without an
 * argument all of them; defaults: settings alone; active, passive: a wait policy; table: prints
 * what libomp gives, too. */
#define _GNU_SOURCE
#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong = 0;

static void check(int right, const char* what) {
  if (right) return;
  wrong = 1;
  printf("wrong: %s\n", what);
}

static int team(void) {
  int threads = 0;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  return threads;
}

/* What Fortran calls. */
int kmp_get_blocktime_(void);
void kmp_set_blocktime_(const int*);
int kmp_get_library_(void);
void kmp_set_library_(const int*);
size_t kmp_get_stacksize_s_(void);
void kmp_set_stacksize_s_(const size_t*);
void* kmp_malloc_(const size_t*);
void kmp_free_(void**);
int kmp_get_affinity_max_proc_(void);
int kmp_set_affinity_mask_proc_(const int*, kmp_affinity_mask_t*);
int kmp_get_affinity_mask_proc_(const int*, kmp_affinity_mask_t*);

/* What Intel's compilers call in place of omp_set_lock. */
void __kmpc_init_lock(void*, int, void*);
void __kmpc_set_lock(void*, int, void*);
void __kmpc_unset_lock(void*, int, void*);
int __kmpc_test_lock(void*, int, void*);
void __kmpc_destroy_lock(void*, int, void*);
void __kmpc_init_nest_lock(void*, int, void*);
void __kmpc_set_nest_lock(void*, int, void*);
void __kmpc_unset_nest_lock(void*, int, void*);
int __kmpc_test_nest_lock(void*, int, void*);
int __kmpc_global_thread_num(void*);

static omp_lock_t lock;
static omp_nest_lock_t nested;

static void locks(void) {
  static char place[24] = {0};
  int count = 0, deep = 0, threads = team();
  __kmpc_init_lock(place, __kmpc_global_thread_num(place), &lock);
  __kmpc_init_nest_lock(place, __kmpc_global_thread_num(place), &nested);
#pragma omp parallel shared(count, deep)
  {
    int me = __kmpc_global_thread_num(place);
    for (int i = 0; i < 20; i++) {
      if (i % 2 == 0 || !__kmpc_test_lock(place, me, &lock)) __kmpc_set_lock(place, me, &lock);
      count++;
      __kmpc_unset_lock(place, me, &lock);
    }
    __kmpc_set_nest_lock(place, me, &nested);
    deep += __kmpc_test_nest_lock(place, me, &nested);
    __kmpc_unset_nest_lock(place, me, &nested);
    __kmpc_unset_nest_lock(place, me, &nested);
  }
  check(count == 20 * threads && deep == 2 * threads, "locks by calls of Intel's compilers");
  __kmpc_destroy_lock(place, __kmpc_global_thread_num(place), &lock);
}

static void interop(void) {
  int code = 77;
  check(
      omp_get_interop_ptr(omp_interop_none, omp_ipr_device, &code) == NULL && code == omp_irc_empty,
      "no object of another runtime library");
  check(omp_get_num_interop_properties(omp_interop_none) == 0, "properties of none");
}

static void settings(int prints) {
  int usual = kmp_get_blocktime(), other = 7;
  kmp_set_blocktime(25);
  int after = kmp_get_blocktime();
  kmp_set_blocktime_(&other);
  if (prints)
    printf("blocktime %d %d %d %d\n", usual, after, kmp_get_blocktime(), kmp_get_blocktime_());
  check(after == 25 && kmp_get_blocktime() == 7, "blocktime");
  int library = kmp_get_library();
  if (prints) printf("library %d\n", library);
  kmp_set_library_turnaround();
  if (prints) printf("library %d\n", kmp_get_library());
  kmp_set_library_throughput();
  if (prints) printf("library %d %d\n", kmp_get_library(), kmp_get_library_());
  check(kmp_get_library() == 3, "library");
  kmp_set_disp_num_buffers(9);
  kmp_set_warnings_off();
  kmp_set_warnings_on();
  if (prints) printf("cancelled %d\n", kmp_get_cancellation_status(1));
  if (prints) printf("tool %d\n", omp_control_tool(omp_control_tool_start, 0, NULL));
}

static void serial(int prints) {
  int before = team();
  kmp_set_library_serial();
  int within = team();
  if (prints) printf("serial: %d threads, levels %d\n", within, omp_get_max_active_levels());
  check(within == 1, "a region in serial mode");
  kmp_set_library_throughput();
  check(team() == before, "a region after serial mode");
}

static void memory(void) {
  size_t bytes = 100;
  char* a = kmp_malloc(bytes);
  char* b = kmp_calloc(10, 10);
  char* c = kmp_aligned_malloc(bytes, 256);
  char* d = kmp_malloc_(&bytes);
  check(a != NULL && b != NULL && c != NULL && d != NULL, "memory");
  check((uintptr_t)c % 256 == 0, "aligned memory");
  memset(a, 3, bytes);
  a = kmp_realloc(a, 5000);
  int good = 1, all = 0;
  for (int i = 0; i < 100; i++) good &= a[i] == 3 && b[i] == 0;
  check(good, "contents of memory");
#pragma omp parallel reduction(+ : all)
  all += a[7];
  check(all == 3 * team(), "memory of all threads");
  kmp_free(a);
  kmp_free(b);
  kmp_free(c);
  kmp_free_((void**)&d);
}

static void masks(int prints) {
  kmp_affinity_mask_t mask, found;
  int most = kmp_get_affinity_max_proc(), first = 0, none = -1;
  check(most > 0 && most == kmp_get_affinity_max_proc_(), "the number of processors");
  kmp_create_affinity_mask(&mask);
  check(kmp_get_affinity_mask_proc(0, &mask) == 0, "a new mask is empty");
  check(kmp_set_affinity_mask_proc(0, &mask) == 0 && kmp_get_affinity_mask_proc(0, &mask) == 1,
        "a processor");
  check(kmp_unset_affinity_mask_proc(0, &mask) == 0 && kmp_get_affinity_mask_proc(0, &mask) == 0,
        "removed again");
  check(kmp_set_affinity_mask_proc_(&first, &mask) == 0 &&
            kmp_get_affinity_mask_proc_(&first, &mask) == 1,
        "Fortran");
  if (prints) {
    printf("wrong processors %d %d\n", kmp_set_affinity_mask_proc(none, &mask),
           kmp_get_affinity_mask_proc(none, &mask));
    printf("too large %d %d\n", kmp_set_affinity_mask_proc(100000, &mask),
           kmp_get_affinity_mask_proc(100000, &mask));
  }
  kmp_create_affinity_mask(&found);
  check(kmp_get_affinity(&found) == 0, "the mask of this thread");
  /* One of those that this thread may use. */
  int processor = 0;
  while (processor < most && kmp_get_affinity_mask_proc(processor, &found) != 1) processor++;
  check(processor < most, "this thread may use a processor");
  kmp_unset_affinity_mask_proc(0, &mask);
  kmp_set_affinity_mask_proc(processor, &mask);
  check(kmp_set_affinity(&mask) == 0, "bound");
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  check(CPU_COUNT(&set) == 1 && CPU_ISSET(processor, &set), "the processor of a bound thread");
  check(kmp_set_affinity(&found) == 0, "unbound");
  kmp_destroy_affinity_mask(&mask);
  kmp_destroy_affinity_mask(&found);
}

/* Not in main's thread, whose stack is the process's. */
static int uses_stack(void) {
  volatile char all[12 << 20];
  all[0] = 1;
  all[sizeof all - 1] = 1;
  return all[0] + all[sizeof all - 1] == 2;
}

static void stack(void) {
  size_t usual = kmp_get_stacksize_s(), wanted = 16 << 20;
  check(usual > 0, "the size of stacks");
  kmp_set_stacksize_s(wanted);
  check(kmp_get_stacksize_s() == wanted, "another size of stacks");
  check(kmp_get_stacksize() == (int)wanted, "the same as int");
  int deep = 0;
#pragma omp parallel reduction(+ : deep)
  deep += omp_get_thread_num() == 0 || uses_stack();
  check(deep == team(), "large stacks");
}

/* In libomp only before anything else. */
static void defaults(void) {
  omp_sched_t kind;
  int chunk;
  kmp_set_defaults("OMP_NUM_THREADS=3|OMP_DYNAMIC=true|KMP_BLOCKTIME=5|OMP_SCHEDULE=guided,5");
  check(omp_get_max_threads() == 3 && omp_get_dynamic(), "defaults");
  omp_get_schedule(&kind, &chunk);
  check(kind == omp_sched_guided && chunk == 5, "the default schedule");
}

/* How long a thread that waits stays awake, where OMP_WAIT_POLICY alone says it. */
static void waiting(int expected) {
  check(kmp_get_blocktime() == expected, "blocktime of a policy");
}

int main(int count, char** words) {
  const char* mode = count > 1 ? words[1] : "";
  int prints = strcmp(mode, "table") == 0;
  if (strcmp(mode, "defaults") == 0) {
    defaults();
  } else if (strcmp(mode, "active") == 0) {
    waiting(INT_MAX);
  } else if (strcmp(mode, "passive") == 0) {
    waiting(0);
  } else {
    stack();
    settings(prints);
    serial(prints);
    memory();
    locks();
    interop();
    masks(prints);
  }
  if (!wrong) printf("good\n");
  return wrong;
}
