/* A program in C whose threads use what the C library has for them: threads of <threads.h>,
   cancellation, memory that the library allocates, streams and descriptors of another node. It
   knows nothing of Terrane; its first argument says what it does. Each mode prints "good" at its
   end, and ends with 0. */
#define _GNU_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* the C library's header inlines putc_unlocked and its kin otherwise */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

enum way {
  IN_CONDITION,
  IN_TIMED_CONDITION,
  IN_SEMAPHORE,
  IN_JOIN,
  IN_SLEEP,
  IN_SHORT_SLEEPS,
  IN_READ,
  IN_POLL,
  IN_PAUSE,
  IN_SIGWAIT,
  IN_OPEN,
  IN_FSYNC,
  IN_TESTCANCEL,
  WAYS
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, ready;
static int pipe_ends[2], cleaned;
static char named_pipe[] = "/tmp/terrane-pipe-XXXXXX/pipe";
static pthread_t sleeper;

/* Gives a mutex back, or holds none. */
static void clean(void* mutex_held) {
  if (mutex_held != NULL) EXPECT(pthread_mutex_unlock(mutex_held) == 0);
  pthread_mutex_lock(&mutex);
  ++cleaned;
  pthread_mutex_unlock(&mutex);
}

static void* sleep_long(void* argument) {
  sleep(1000);
  return argument;
}

static void* return_at_once(void* argument) { return argument; }

/* Waits in one of the ways there are, until it is cancelled. */
static void* wait_for_ever(void* argument) {
  enum way way = (enum way)(long)argument;
  int has_mutex = way == IN_CONDITION || way == IN_TIMED_CONDITION, number;
  struct timespec late = {time(NULL) + 1000, 0};
  struct pollfd one = {pipe_ends[0], POLLIN, 0};
  char byte;
  sigset_t all;
  sigfillset(&all);
  if (way == IN_SIGWAIT) pthread_sigmask(SIG_BLOCK, &all, NULL);
  if (has_mutex) pthread_mutex_lock(&held);
  pthread_cleanup_push(clean, has_mutex ? &held : NULL);
  pthread_cleanup_push(clean, NULL);
  sem_post(&ready);
  for (;;) {
    if (way == IN_CONDITION) pthread_cond_wait(&condition, &held);
    if (way == IN_TIMED_CONDITION) pthread_cond_timedwait(&condition, &held, &late);
    if (way == IN_SEMAPHORE) sem_wait(&semaphore);
    if (way == IN_JOIN) pthread_join(sleeper, NULL);
    if (way == IN_SLEEP) sleep(1000);
    if (way == IN_SHORT_SLEEPS) usleep(100);
    if (way == IN_READ) EXPECT(read(pipe_ends[0], &byte, 1) == -2);
    if (way == IN_POLL) EXPECT(poll(&one, 1, -1) == -2);
    if (way == IN_PAUSE) pause();
    if (way == IN_SIGWAIT) EXPECT(sigwait(&all, &number) == -2);
    if (way == IN_OPEN) EXPECT(open(named_pipe, O_RDONLY) == -2);
    if (way == IN_FSYNC) EXPECT(fsync(pipe_ends[0]) == -1);
    if (way == IN_TESTCANCEL) pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}

static void expect_cancelled(pthread_t thread) {
  void* result = NULL;
  EXPECT(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static void cancel_in(enum way way) {
  pthread_t threads[3]; /* on several nodes */
  int before = cleaned;
  for (int t = 0; t < 3; ++t) {
    EXPECT(pthread_create(&threads[t], NULL, wait_for_ever, (void*)(long)way) == 0);
    sem_wait(&ready);
  }
  if (way % 2 == 0) usleep(2000); /* else the threads are about to wait */
  pthread_mutex_lock(&held);      /* which a cancelled thread takes again after the condition */
  for (int t = 0; t < 3; ++t) EXPECT(pthread_cancel(threads[t]) == 0);
  EXPECT(pthread_cancel(threads[0]) == 0); /* once more */
  pthread_mutex_unlock(&held);
  for (int t = 0; t < 3; ++t) expect_cancelled(threads[t]);
  EXPECT(cleaned == before + 6);
}

/* Is not cancelled before it allows that. */
static void* keep_off(void* argument) {
  int before = -1;
  EXPECT(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
  EXPECT(before == PTHREAD_CANCEL_ENABLE);
  EXPECT(pthread_setcancelstate(-1, NULL) == EINVAL);
  sem_post(&ready);
  usleep(20000);
  pthread_testcancel();
  *(int*)argument = 1;
  EXPECT(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before) == 0);
  EXPECT(before == PTHREAD_CANCEL_DISABLE);
  for (;;) sleep(1);
}

static void* cancel_itself(void* argument) {
  EXPECT(pthread_cancel(pthread_self()) == 0);
  EXPECT(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
  pthread_testcancel();
  return argument;
}

/* A request comes before what the requester does after it. */
static void* test_once(void* argument) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  sem_wait(&semaphore);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  pthread_testcancel();
  return argument;
}

static void cancels(void) {
  static int was_kept;
  pthread_t thread;
  void* result = NULL;
  sem_init(&semaphore, 0, 0);
  sem_init(&ready, 0, 0);
  EXPECT(pipe(pipe_ends) == 0);
  char* slash = strrchr(named_pipe, '/');
  *slash = 0;
  EXPECT(mkdtemp(named_pipe) != NULL);
  *slash = '/';
  EXPECT(mkfifo(named_pipe, 0600) == 0);
  EXPECT(pthread_create(&sleeper, NULL, sleep_long, NULL) == 0);
  for (int way = 0; way < WAYS; ++way) cancel_in((enum way)way);
  EXPECT(unlink(named_pipe) == 0);
  *slash = 0;
  EXPECT(rmdir(named_pipe) == 0);
  EXPECT(pthread_cancel(sleeper) == 0);
  expect_cancelled(sleeper);
  for (int t = 0; t < 2; ++t) {
    EXPECT(pthread_create(&thread, NULL, keep_off, &was_kept) == 0);
    sem_wait(&ready);
    EXPECT(pthread_cancel(thread) == 0);
    expect_cancelled(thread);
    EXPECT(was_kept == 1);
    EXPECT(pthread_create(&thread, NULL, cancel_itself, NULL) == 0);
    expect_cancelled(thread);
    EXPECT(pthread_create(&thread, NULL, sleep_long, NULL) == 0);
    EXPECT(pthread_cancel(thread) == 0); /* it may not have begun */
    expect_cancelled(thread);
    EXPECT(pthread_create(&thread, NULL, test_once, NULL) == 0);
    EXPECT(pthread_cancel(thread) == 0 && sem_post(&semaphore) == 0);
    expect_cancelled(thread);
    EXPECT(pthread_create(&thread, NULL, return_at_once, &was_kept) == 0);
    usleep(2000);
    EXPECT(pthread_cancel(thread) == 0); /* it has ended */
    EXPECT(pthread_join(thread, &result) == 0 &&
           (result == &was_kept || result == PTHREAD_CANCELED));
    EXPECT(pthread_cancel(thread) == ESRCH);
    EXPECT(pthread_create(&thread, NULL, sleep_long, NULL) == 0);
    EXPECT(pthread_detach(thread) == 0 && pthread_cancel(thread) == 0);
  }
  int type = -1;
  EXPECT(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type) == 0);
  EXPECT(type == PTHREAD_CANCEL_DEFERRED && pthread_setcanceltype(-1, NULL) == EINVAL);
}

static void* end_main(void* argument) {
  pthread_t main_thread = *(pthread_t*)argument;
  EXPECT(pthread_cancel(main_thread) == 0);
  sem_wait(&semaphore);
  printf("main has ended\n");
  if (failures == 0) printf("good\n");
  return NULL;
}

static void post_at_end(void* argument) { sem_post(argument); }

static void cancel_main(void) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  sem_init(&semaphore, 0, 0);
  EXPECT(pthread_create(&thread, NULL, end_main, &self) == 0);
  pthread_cleanup_push(post_at_end, &semaphore);
  for (;;) sleep(1000);
  pthread_cleanup_pop(0);
}

/* Waits for children while its stack's page is written by main and read by all. */
static volatile int* volatile word;
static volatile int waiter_has_ended;

static void* wait_for_children(void* argument) {
  volatile int words[2] = {0, 0};
  for (int i = 0; i < 20; ++i) {
    char* command[] = {"sleep", "0.03", NULL};
    pid_t child;
    int status = -1;
    EXPECT(posix_spawnp(&child, "sleep", NULL, NULL, command, NULL) == 0);
    pthread_mutex_lock(&mutex);
    word = words;
    pthread_mutex_unlock(&mutex);
    if (waitpid(child, &status, 0) != child || status != 0) {
      printf("waitpid: %s, status %d\n", strerror(errno), status);
      ++failures;
    }
    words[1] = i;
  }
  pthread_mutex_lock(&mutex);
  word = NULL;
  waiter_has_ended = 1;
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void* write_to_a_stack(void* argument) {
  for (int ended = 0; !ended;) {
    pthread_mutex_lock(&mutex);
    if (word != NULL) ++*word;
    ended = waiter_has_ended;
    pthread_mutex_unlock(&mutex);
  }
  return argument;
}

static void waits_on_stacks(void) {
  pthread_t waiter, writers[3];
  EXPECT(pthread_create(&waiter, NULL, wait_for_children, NULL) == 0);
  for (int t = 0; t < 3; ++t)
    EXPECT(pthread_create(&writers[t], NULL, write_to_a_stack, NULL) == 0);
  for (int t = 0; t < 3; ++t) EXPECT(pthread_join(writers[t], NULL) == 0);
  EXPECT(pthread_join(waiter, NULL) == 0);
}

static void asynchronous(void) {
  EXPECT(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == ENOTSUP);
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
  if (strcmp(mode, "cancels") == 0) cancels();
  if (strcmp(mode, "cancel_main") == 0) cancel_main();
  if (strcmp(mode, "waits_on_stacks") == 0) waits_on_stacks();
  if (strcmp(mode, "asynchronous") == 0) asynchronous();
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
