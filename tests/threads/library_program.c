/* A program in C whose threads use what the C library has for them: threads of <threads.h>,
   memory that the library allocates, streams and descriptors of another node. It
   knows nothing of Terrane; its first argument says what it does. Each mode prints "good" at its
   end, and ends with 0. */
#define _GNU_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* the C library's header inlines putc_unlocked and its kin otherwise */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

#define THREADS 6

static int failures;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is wrong\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

static void run(void* (*function)(void*), long count) {
  pthread_t threads[64];
  for (long t = 0; t < count; ++t)
    EXPECT(pthread_create(&threads[t], NULL, function, (void*)t) == 0);
  for (long t = 0; t < count; ++t) EXPECT(pthread_join(threads[t], NULL) == 0);
}

/* Once on each node: `run` puts the threads onto all places in turn. */
static void run_everywhere(void* (*function)(void*)) {
  for (int t = 0; t < 2; ++t) run(function, 1);
}

static int sum;
static mtx_t plain;
static once_flag flag = ONCE_FLAG_INIT;
static int onces;
static int processes[THREADS];

static void count_once(void) { ++onces; }

static int add(void* argument) {
  int self = *(int*)argument;
  processes[self] = getpid();
  call_once(&flag, count_once);
  for (int i = 0; i < 50; ++i) {
    mtx_lock(&plain);
    sum += self;
    mtx_unlock(&plain);
  }
  struct timespec moment = {0, 1000};
  EXPECT(thrd_sleep(&moment, NULL) == 0);
  char* block = malloc(100);
  free(block);
  if (self == 1) thrd_exit(77);
  return -self;
}

static void c_threads(void) {
  static int numbers[THREADS];
  thrd_t team[THREADS];
  mtx_init(&plain, mtx_plain);
  for (int t = 0; t < THREADS; ++t) {
    numbers[t] = t;
    EXPECT(thrd_create(&team[t], add, &numbers[t]) == thrd_success);
  }
  int others = 0;
  for (int t = 0; t < THREADS; ++t) {
    int result = 0;
    EXPECT(thrd_join(team[t], &result) == thrd_success);
    EXPECT(result == (t == 1 ? 77 : -t));
    others += processes[t] != getpid();
  }
  EXPECT(sum == 50 * 15 && onces == 1);
  EXPECT(thrd_equal(thrd_current(), pthread_self()));
  printf("%d threads ran elsewhere\n", others);
}

static char *texts[8], *in_memory;
static int texts_made;
static size_t bytes_in_memory;
static struct dirent** names;
static int names_found;
static wordexp_t words;
static void* tree;

static int compare(const void* a, const void* b) { return strcmp(a, b); }

static void* allocate(void* argument) {
  texts[texts_made++] = strndup("text and more", 4);
  texts[texts_made++] = get_current_dir_name();
  FILE* stream = open_memstream(&in_memory, &bytes_in_memory);
  EXPECT(stream != NULL && fflush(stream) == 0);
  EXPECT(*in_memory == '\0' && bytes_in_memory == 0);
  for (int i = 0; i < 1000; ++i) EXPECT(fprintf(stream, "%04d ", i) == 5);
  EXPECT(fflush(stream) == 0 && bytes_in_memory == 5000);
  EXPECT(fseek(stream, 0, SEEK_SET) == 0 && fputs("text", stream) >= 0);
  EXPECT(fseek(stream, 0, SEEK_END) == 0 && fclose(stream) == 0);
  names_found = scandir("/proc/self", &names, NULL, alphasort);
  EXPECT(wordexp("text 'two words'", &words, 0) == 0);
  EXPECT(tsearch(texts[0], &tree, compare) != NULL);
  EXPECT(tsearch("later", &tree, compare) != NULL);
  return argument;
}

static void allocations(void) {
  for (int t = 0; t < 2; ++t) {
    texts_made = 0;
    tree = NULL;
    run(allocate, 1);
    EXPECT(strcmp(texts[0], "text") == 0 && texts[1][0] == '/');
    EXPECT(bytes_in_memory == 5000 && strncmp(in_memory, "text 0001 ", 10) == 0);
    EXPECT(strcmp(in_memory + 4995, "0999 ") == 0);
    EXPECT(names_found > 10 && strcmp(names[0]->d_name, ".") == 0);
    EXPECT(words.we_wordc == 2 && strcmp(words.we_wordv[1], "two words") == 0);
    EXPECT(tfind("text", &tree, compare) != NULL && tfind("later", &tree, compare) != NULL);
    EXPECT(tdelete("later", &tree, compare) != NULL && tdelete("text", &tree, compare) != NULL);
    for (int i = 0; i < texts_made; ++i) free(texts[i]);
    for (int i = 0; i < names_found; ++i) free(names[i]);
    free(names);
    free(in_memory);
    wordfree(&words);
  }
}

static FILE *bytes_out, *bytes_in, *wide_out, *wide_in;
static int descriptor;

static void* use_streams(void* argument) {
  char line[64] = "";
  wchar_t wide[64];
  EXPECT(fputc_unlocked('a', bytes_out) == 'a' && fputs_unlocked("bc", bytes_out) >= 0);
  EXPECT(fflush_unlocked(bytes_out) == 0 && !ferror_unlocked(bytes_out));
  EXPECT(fgetc_unlocked(bytes_in) == 'l' && fgets_unlocked(line, sizeof line, bytes_in) == line);
  EXPECT(strcmp(line, "ine\n") == 0 && !feof_unlocked(bytes_in));
  EXPECT(fputwc(L'w', wide_out) == L'w' && fwprintf(wide_out, L"%d", 5) == 1);
  EXPECT(fputws(L"xy", wide_out) >= 0);
  EXPECT(fgetwc(wide_in) == L'w' && fgetws(wide, 64, wide_in) == wide);
  EXPECT(wcscmp(wide, L"ide\n") == 0);
  EXPECT(fchmod(descriptor, 0600) == 0 && posix_fallocate(descriptor, 0, 100) == 0);
  EXPECT(lockf(descriptor, F_LOCK, 0) == 0 && lockf(descriptor, F_ULOCK, 0) == 0);
  return argument;
}

static void streams(void) {
  wchar_t wide[64];
  bytes_out = tmpfile();
  bytes_in = tmpfile();
  wide_out = tmpfile();
  wide_in = tmpfile();
  descriptor = fileno(tmpfile());
  fputs("line\nline\n", bytes_in);
  fputws(L"wide\nwide\n", wide_in);
  rewind(bytes_in);
  rewind(wide_in);
  run_everywhere(use_streams);
  struct stat facts;
  EXPECT(ftell(bytes_out) == 6 && fstat(descriptor, &facts) == 0 && facts.st_size == 100);
  rewind(wide_out);
  EXPECT(fgetws(wide, 64, wide_out) == wide && wcscmp(wide, L"w5xyw5xy") == 0);
}

/* In every way that a program may read standard input. */
static void* read_input(void* argument) {
  char line[64] = "";
  int number = 0;
  EXPECT(getchar() == 'l' && getchar_unlocked() == 'i' && getc_unlocked(stdin) == 'n');
  EXPECT(fgets(line, sizeof line, stdin) == line && strcmp(line, "e\n") == 0);
  EXPECT(scanf("%d\n", &number) == 1 && number == 12);
  return argument;
}

static void* change_process(void* argument) {
  EXPECT(chdir("/proc") == 0 && setenv("TERRANE_TEST_NAME", "a value", 1) == 0);
  EXPECT(setenv("TERRANE_TEST_OTHER", "x", 1) == 0 && unsetenv("TERRANE_TEST_OTHER") == 0);
  umask(027);
  return argument;
}

static void* look_at_process(void* argument) {
  char folder[64] = "";
  const char* value = getenv("TERRANE_TEST_NAME");
  EXPECT(getcwd(folder, sizeof folder) == folder && strcmp(folder, "/proc") == 0);
  EXPECT(access("self/exe", F_OK) == 0);
  EXPECT(value != NULL && strcmp(value, "a value") == 0);
  EXPECT(getenv("TERRANE_TEST_OTHER") == NULL);
  EXPECT(umask(027) == 027);
  return argument;
}

static void* leave_quickly(void* argument) { quick_exit(argument == NULL ? 6 : 1); }

static void say_quickly(void) {
  printf("the handler of quick_exit\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "c_threads") == 0) c_threads();
  if (strcmp(mode, "allocations") == 0) allocations();
  if (strcmp(mode, "streams") == 0) streams();
  if (strcmp(mode, "input") == 0) run_everywhere(read_input);
  if (strcmp(mode, "process") == 0) {
    run(change_process, 1);
    run(look_at_process, THREADS);
    look_at_process(NULL);
  }
  if (strcmp(mode, "quick_exit") == 0) {
    at_quick_exit(say_quickly);
    run(leave_quickly, 1);
  }
  if (failures == 0) printf("good\n");
  return failures == 0 ? 0 : 1;
}
