// How a program may end with an exit code, from main or from a thread of any node:
//   ends_program WAY [NODE]
// NODE: the number of the thread that ends it, of four; without it main does. Each handler of exit
// names the thread that has registered it: the test compares that with a run of the program alone.
#define _GNU_SOURCE
#undef NDEBUG
#include <argp.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <obstack.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define obstack_chunk_alloc no_memory
#define obstack_chunk_free free

enum { kThreads = 4 };

static const char* way;
static int who = -1;  // main
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void of_main(void) { puts("main's handler"); }
static void of_thread(void) { puts("a thread's handler"); }
static void of_quick_exit(void) {
  puts("handler of quick_exit");
  fflush(stdout);
}
static void with_code(int code, void* argument) {
  printf("code %d, %s\n", code, (const char*)argument);
}

static void* no_memory(size_t bytes) { return bytes == 0 ? malloc(1) : NULL; }

static void warn_by(void (*function)(int, const char*, va_list), int code, const char* format,
                    ...) {
  va_list arguments;
  va_start(arguments, format);
  function(code, format, arguments);
  va_end(arguments);
}

static void parse_wrong_options(void) {
  char* words[] = {(char*)"ends_program", (char*)"--nosuch", NULL};
  argp_parse(NULL, 2, words, 0, NULL, NULL);
}

static void use_obstack(void) {
  struct obstack stack;
  obstack_init(&stack);
  obstack_alloc(&stack, 100);
}

__attribute__((noinline)) static void read_nowhere(void) {
  static volatile int* volatile nowhere = (int*)16;
  *nowhere = 1;
}

__attribute__((noinline)) static void divide_by_zero(void) {
  static volatile int zero, number = 7;
  number = number / zero;
}

__attribute__((noinline)) static void stop_at_a_breakpoint(void) {
#ifdef __x86_64__
  __asm__ volatile("int3");
#else
  raise(SIGTRAP);
#endif
}

__attribute__((noinline)) static int fill_stack(volatile int* caller) {
  volatile int room[1024];
  room[0] = caller == NULL ? 0 : *caller + 1;
  return room[0] + fill_stack(room) + room[1];
}

static void crash(void) {
  if (!strcmp(way, "segv")) read_nowhere();
  if (!strcmp(way, "fpe")) divide_by_zero();
  if (!strcmp(way, "trap")) __builtin_trap();
  if (!strcmp(way, "breakpoint")) stop_at_a_breakpoint();
  if (!strcmp(way, "overflow")) exit(fill_stack(NULL) == 0);
}

static void on_signal(int number) {
  printf("the program's handler of signal %d\n", number);
  fflush(stdout);
  _exit(33);
}

static void handle(void) {
  struct sigaction before;
  for (int number = 1; number < 32; ++number)
    if (sigaction(number, NULL, &before) != 0 || before.sa_handler != SIG_DFL)
      printf("signal %d is handled\n", number);
  if (signal(SIGFPE, on_signal) != SIG_DFL || signal(SIGABRT, on_signal) != SIG_DFL)
    puts("not the default");
}

static void end(void) {
  errno = ENOENT;
  printf("%s ends the program\n", who < 0 ? "main" : "a thread");
  if (!strcmp(way, "exit")) exit(21);
  if (!strcmp(way, "exit_more_than_a_byte")) exit(256 + 22);
  if (!strcmp(way, "err")) err(23, "cannot open");
  if (!strcmp(way, "errx")) errx(24, "wrong input");
  if (!strcmp(way, "verr")) warn_by(verr, 25, "%s", "cannot open");
  if (!strcmp(way, "verrx")) warn_by(verrx, 26, "%s", "wrong input");
  if (!strcmp(way, "error")) error(27, ENOENT, "cannot read");
  if (!strcmp(way, "error_at_line")) error_at_line(28, 0, "input.txt", 3, "wrong word");
  if (!strcmp(way, "argp")) parse_wrong_options();
  if (!strcmp(way, "obstack")) use_obstack();
  if (!strcmp(way, "quick_exit")) quick_exit(29);
  if (strstr(way, "unflushed") == NULL) fflush(stdout);
  crash();
  if (!strcmp(way, "unflushed_segv")) read_nowhere();
  if (!strcmp(way, "unflushed_abort")) abort();
  if (!strcmp(way, "handled_fpe")) divide_by_zero();
  if (!strcmp(way, "handled_abort")) abort();
  if (!strcmp(way, "_exit")) _exit(30);
  if (!strcmp(way, "_Exit")) _Exit(31);
  if (!strcmp(way, "exit_group")) syscall(SYS_exit_group, 32);
  if (!strcmp(way, "abort")) abort();
  if (!strcmp(way, "assert")) assert(who == 100);
  if (!strcmp(way, "raise")) raise(SIGTERM);
  if (!strcmp(way, "kill")) kill(getpid(), SIGKILL);
}

static void* work(void* argument) {
  int me = (int)(long)argument;
  pthread_mutex_lock(&mutex);
  while (turn != me) pthread_cond_wait(&changed, &mutex);
  if (me == 1) atexit(of_thread);
  if (me == 2) on_exit(with_code, (void*)"of a thread");
  if (me == 3) at_quick_exit(of_quick_exit);
  ++turn;
  pthread_cond_broadcast(&changed);
  while (turn != kThreads) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  if (me == who) end();
  if (who >= 0 && strcmp(way, "pthread_exit") != 0) sleep(60);
  return argument;
}

int main(int argc, char** argv) {
  way = argv[1];
  if (argc > 2) who = atoi(argv[2]);
  if (strstr(way, "handled") != NULL) handle();
  atexit(of_main);
  on_exit(with_code, (void*)"of main");
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  if (who < 0) {
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    end();
  }
  pthread_exit(NULL);
}
