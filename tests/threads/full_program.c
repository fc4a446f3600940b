// A program at the limits of its job's memory.
// Usage: full_program MODE MIB. Modes: shrinks (fills so much, prints "filled", reads all of it for
// some seconds), grows (by realloc, until that gives nothing), regrows (one block is so large;
// another one grows by realloc to the same size), stacks (so much on the stacks of three threads),
// locks (mlock of so much), mapped (mremap of a mapping to that size), sparse (so much of a static
// array, and some words of the rest), unreserved (the same in a mapping with MAP_NORESERVE), small
// (blocks of 1000 bytes), asks (for so much by every call there is, says which give it), churns
// (three threads write all of so much and read what the next one wrote, for some seconds). Prints
// "right" if all bytes are.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 3, kSeconds = 4, kSparseMib = 256 };
static uint64_t statics[(size_t)kSparseMib << 17];

static void fill(uint64_t* data, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) data[i] = i * 3 + 1;
}

static int is_right(const uint64_t* data, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (data[i] != i * 3 + 1) return 0;
  return 1;
}

static int say(int right) {
  puts(right ? "right" : "wrong");
  return !right;
}

static int shrinks(size_t count) {
  uint64_t* data = malloc(count * sizeof *data);
  fill(data, 0, count);
  puts("filled");
  fflush(stdout);
  int right = 1;
  for (int i = 0; i < kSeconds * 5 && right; ++i) {
    right = is_right(data, count);
    usleep(200000);
  }
  return say(right);
}

static int grows(size_t count) {
  uint64_t* data = NULL;
  size_t have = 0;
  for (size_t want = 1 << 17;; want *= 2) {
    uint64_t* more = realloc(data, want * sizeof *data);
    if (more == NULL) break;
    data = more;
    size_t end = want < count ? want : count;
    if (have < end) fill(data, have, end);
    have = end > have ? end : have;
  }
  printf("errno %d\n", errno);
  return say(is_right(data, have));
}

static int regrows(size_t count) {
  uint64_t* first = malloc(count * sizeof *first);
  fill(first, 0, count);
  uint64_t* second = NULL;
  size_t have = 0;
  for (size_t want = 1 << 17; want <= count; want *= 2) {
    second = realloc(second, want * sizeof *second);
    if (second == NULL) return puts("NULL");
    fill(second, have, want);
    have = want;
  }
  return say(is_right(first, count) && is_right(second, have));
}

static size_t words_of_thread;

static void* on_stack(void* right) {
  uint64_t* data = __builtin_alloca(words_of_thread * sizeof *data);
  fill(data, 0, words_of_thread);
  *(int*)right = is_right(data, words_of_thread);
  return NULL;
}

static int stacks(size_t count) {
  pthread_t threads[kThreads];
  int right[kThreads], all = 1;
  pthread_attr_t attributes;
  words_of_thread = count / kThreads;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, words_of_thread * sizeof(uint64_t) + (1 << 20));
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], &attributes, on_stack, &right[i]) != 0) return 3;
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    all = all && right[i];
  }
  return say(all);
}

static int locks(size_t count) {
  uint64_t* data = malloc(count * sizeof *data);
  int locked = mlock(data, count * sizeof *data);
  printf("mlock %d %d\n", locked, locked == 0 ? 0 : errno);
  fill(data, 0, count);
  return say(is_right(data, count));
}

static int mapped(size_t count) {
  size_t bytes = count * sizeof(uint64_t);
  uint64_t* data =
      mmap(NULL, bytes / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fill(data, 0, count / 2);
  data = mremap(data, bytes / 2, bytes, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return printf("errno %d\n", errno);
  fill(data, count / 2, count);
  return say(is_right(data, count));
}

static int use_parts(uint64_t* data, size_t count) {
  const size_t all = (size_t)kSparseMib << 17, step = (size_t)1 << 20;
  fill(data, 0, count);
  for (size_t i = all - step; i > count; i -= step) data[i] = i;
  int right = is_right(data, count);
  for (size_t i = all - step; i > count; i -= step) right = right && data[i] == i;
  return say(right);
}

static int sparse(size_t count) { return use_parts(statics, count); }

static int unreserved(size_t count) {
  uint64_t* data = mmap(NULL, sizeof statics, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? 3 : use_parts(data, count);
}

static int small(size_t count) {
  enum { kWords = 125 };
  int right = 1;
  uint64_t* last = NULL;  // each block begins with the place of the one before it
  for (size_t done = 0; done < count; done += kWords) {
    uint64_t* block = malloc(kWords * sizeof *block);
    if (block == NULL) return 3;
    fill(block, 1, kWords);
    block[0] = (uintptr_t)last;
    last = block;
  }
  for (; last != NULL; last = (uint64_t*)(uintptr_t)last[0])
    for (size_t i = 1; i < kWords; ++i) right = right && last[i] == i * 3 + 1;
  return say(right);
}

static int gives(const char* call, void* block) {
  int error = errno;
  int is_there = block != NULL && block != MAP_FAILED;
  if (!is_there) printf("%s errno %d\n", call, error);
  if (is_there) printf("%s gives it\n", call);
  return is_there;
}

static int asks(size_t count) {
  size_t bytes = count * sizeof(uint64_t);
  void* block = malloc(100);
  void* aligned = NULL;
  strcpy(block, "kept");
  if (gives("malloc", malloc(bytes))) return 0;
  gives("calloc", calloc(count, sizeof(uint64_t)));
  gives("realloc", realloc(block, bytes));
  gives("aligned_alloc", aligned_alloc(64, bytes));
  printf("posix_memalign %d\n", posix_memalign(&aligned, 64, bytes));
  gives("mmap", mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return say(strcmp(block, "kept") == 0);
}

static uint64_t* churned;
static pthread_barrier_t churns_meet;
static int churn_ends, churn_is_wrong[kThreads];

static void* churn(void* number) {
  size_t me = (uintptr_t)number, next = (me + 1) % kThreads;
  for (uint64_t round = 1; !churn_ends; ++round) {
    for (size_t i = me * words_of_thread; i < (me + 1) * words_of_thread; ++i)
      churned[i] = i * 3 + round;
    pthread_barrier_wait(&churns_meet);
    for (size_t i = next * words_of_thread; i < (next + 1) * words_of_thread; ++i)
      churn_is_wrong[me] |= churned[i] != i * 3 + round;
    if (me == 0 && time(NULL) >= (time_t)churned[kThreads * words_of_thread]) churn_ends = 1;
    pthread_barrier_wait(&churns_meet);
  }
  return NULL;
}

static int churns(size_t count) {
  pthread_t threads[kThreads];
  words_of_thread = count / kThreads;
  churned = malloc((kThreads * words_of_thread + 1) * sizeof *churned);
  churned[kThreads * words_of_thread] = (uint64_t)time(NULL) + kSeconds;
  puts("filled");
  fflush(stdout);
  pthread_barrier_init(&churns_meet, NULL, kThreads);
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, churn, (void*)i);
  for (size_t i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return say(!churn_is_wrong[0] && !churn_is_wrong[1] && !churn_is_wrong[2]);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  size_t count = strtoul(argv[2], NULL, 10) << 17;
  const struct {
    const char* name;
    int (*run)(size_t);
  } modes[] = {{"shrinks", shrinks}, {"grows", grows},  {"regrows", regrows},
               {"stacks", stacks},   {"locks", locks},  {"mapped", mapped},
               {"sparse", sparse},   {"small", small},  {"unreserved", unreserved},
               {"asks", asks},       {"churns", churns}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i)
    if (strcmp(modes[i].name, argv[1]) == 0) return modes[i].run(count);
  return 2;
}
