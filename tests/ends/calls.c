// Ends by calls, in main or in a thread (actor.h).
#define _GNU_SOURCE
#undef NDEBUG
#include <argp.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <obstack.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "actor.h"

#define obstack_chunk_alloc no_memory
#define obstack_chunk_free free

extern char** environ;

static int by_exit(int code) { exit(code); }
static int by_underscore(int code) { _exit(code); }
static int by_capital(int code) { _Exit(code); }
static int by_quick(int code) { quick_exit(code); }
static int by_group(int code) { return (int)syscall(SYS_exit_group, code); }
static int by_return(int code) { return code; }
static int by_abort(int code) { abort(), (void)code; }
static int by_assert(int code) {
  assert(code == 100), (void)code;
  return 0;
}
static int by_trap(int code) { __builtin_trap(), (void)code; }

static void call_list(void (*function)(int, const char*, va_list), int code, const char* format,
                      ...) {
  va_list list;
  va_start(list, format);
  function(code, format, list);
  va_end(list);
}

static int by_err(int code) {
  errno = ENOENT;
  err(code, "cannot open %s", "input");
}
static int by_errx(int code) { errx(code, "wrong input"); }
static int by_errc(int code) {
  errno = code;
  err(code, NULL);
}
static int by_verr(int code) {
  errno = EACCES;
  call_list(verr, code, "%s", "cannot open");
  return 0;
}
static int by_verrx(int code) {
  call_list(verrx, code, "%s", "wrong input");
  return 0;
}
static int by_error(int code) {
  error(code, ENOENT, "cannot read");
  return 3;
}
static int by_error_at_line(int code) {
  error_at_line(code, 0, "in.txt", 3, "wrong word");
  return 3;
}
static int by_warn(int code) {
  errno = ENOENT;
  warn("only a warning");
  return code;
}
static int by_warnx(int code) {
  warnx("only a warning");
  return code;
}
static int by_perror(int code) {
  errno = EIO;
  perror("read");
  return code;
}

static error_t parse_one(int key, char* argument, struct argp_state* state) {
  if (key == 'f') argp_failure(state, 41, ENOENT, "cannot open %s", argument);
  if (key == 'e') argp_error(state, "wrong %s", argument);
  if (key == 'u') argp_usage(state);
  if (key == ARGP_KEY_NO_ARGS) argp_usage(state);
  return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

static int parse(const char* word) {
  static const struct argp_option kOptions[] = {{"fail", 'f', "FILE", 0, "fails", 0},
                                                {"error", 'e', "FILE", 0, "is wrong", 0},
                                                {"usage-please", 'u', 0, 0, "says how", 0},
                                                {0}};
  static struct argp argp = {kOptions, parse_one, "INPUT", "A program", 0, 0, 0};
  static char name[] = "calls", text[64];
  static char* words[] = {name, text, NULL};
  argp_program_version = "calls 1.0";
  strcpy(text, word);
  return argp_parse(&argp, text[0] == '\0' ? 1 : 2, words, 0, NULL, NULL);
}

static int by_argp(int number) {
  static const char* const kWords[] = {"",          "--nosuch",   "--help",  "--version",
                                       "--fail=in", "--error=in", "--usage", "--usage-please",
                                       "--fail",    "word"};
  return parse(kWords[number]);
}

static void* no_memory(size_t bytes) { return bytes == 0 ? malloc(1) : NULL; }

static int by_obstack(int code) {
  if (code != 0) obstack_exit_failure = code;
  struct obstack stack;
  obstack_init(&stack);
  obstack_alloc(&stack, 100);
  return 0;
}

static void crash(void) {
  static volatile int* volatile nowhere = (int*)16;
  *nowhere = 1;
}

// Handlers of exit: one more, another code, no further ones, a crash.
static void say_first(void) { puts("the first handler"); }
static void say_second(void) { puts("the second handler"); }
static void exit_again(void) { puts("exit in a handler"), exit(51); }
static void underscore_again(void) { say("_exit in a handler"), _exit(52); }
static void abort_again(void) { say("abort in a handler"), abort(); }
static void crash_again(void) { say("a crash in a handler"), crash(); }
static void register_again(void) { puts("atexit in a handler"), atexit(say_second); }
static void with_code(int code, void* text) { printf("%s: %d\n", (const char*)text, code); }
static void exit_with_more(int code, void* text) { with_code(code, text), exit(code + 1); }
static void say_quick(void) { say("the handler of quick_exit"); }
static void say_unflushed(void) { printf("no newline"); }

static int by_handlers(int number) {
  static void (*const kHandlers[])(void) = {say_second,   exit_again,     underscore_again,
                                            abort_again,  register_again, crash_again,
                                            say_unflushed};
  atexit(say_first);
  atexit(kHandlers[number]);
  on_exit(with_code, (void*)"on_exit");
  exit(50);
}

static int by_on_exit(int code) {
  atexit(say_first);
  on_exit(exit_with_more, (void*)"first");
  on_exit(exit_with_more, (void*)"second");
  exit(code);
}

static int by_quick_handlers(int code) {
  atexit(say_first);
  at_quick_exit(say_quick);
  at_quick_exit(say_quick);
  quick_exit(code);
}

// Main and the others are gone, or wait for something that never comes.
static int by_pthread_exit(int code) { return tell(code), pthread_exit(NULL), 0; }
static int by_thrd_exit(int code) { return tell(code), thrd_exit(code), 0; }

static void* never(void* how) {
  static sem_t empty;
  if ((long)how == 0) sem_wait(&empty);
  if ((long)how == 1) pause();
  if ((long)how == 2) pthread_mutex_lock(&job.mutex), pthread_mutex_lock(&job.mutex);
  if ((long)how == 3) sleep(1000);
  for (volatile long i = 0;; ++i) continue;
  return NULL;
}

static int by_exit_while_others(int how) {
  pthread_t thread;
  for (int i = 0; i < 4; ++i) pthread_create(&thread, NULL, never, (void*)(long)how);
  usleep(50000);
  exit(60 + how);
}

static void* exit_too(void* code) { exit((int)(long)code); }

static int by_exit_of_many(int code) {
  pthread_t thread;
  for (int i = 0; i < 4; ++i) pthread_create(&thread, NULL, exit_too, (void*)(long)code);
  exit(code);
}

// As the last thread of the program.
static int by_exit_after_main(int code) { return usleep(100000), exit(code), 0; }
static int by_abort_after_main(int code) { return usleep(100000), abort(), code; }

// Children: their code as the program's.
static int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int by_system(int number) {
  static const char* const kCommands[] = {
      "exit 0", "exit 7", "kill -TERM $$", "echo from a child", "nosuch 2>&-", "cat"};
  return code_of(system(kCommands[number]));
}

static int by_popen(int number) {
  static const char* const kCommands[] = {"echo a line; exit 8", "kill -KILL $$", "exit 0"};
  char line[64];
  FILE* pipe = popen(kCommands[number], "r");
  while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) fputs(line, stdout);
  return pipe == NULL ? 99 : code_of(pclose(pipe));
}

static int by_spawn(int number) {
  static const char* const kCommands[] = {"echo spawned; exit 9", "kill -SEGV $$"};
  char shell[] = "sh", option[] = "-c", text[64];
  char* words[] = {shell, option, strcpy(text, kCommands[number]), NULL};
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, "sh", NULL, NULL, words, environ) != 0) return 99;
  waitpid(child, &status, 0);
  return code_of(status);
}

static int by_missing_child(int number) {
  char name[] = "/nosuch/program";
  char* words[] = {name, NULL};
  pid_t child = 0;
  int error = posix_spawn(&child, name, NULL, NULL, words, environ);
  printf("%s\n", strerror(error));
  return number;
}

__attribute__((noinline)) static int fill_stack(volatile int* caller) {
  volatile int room[1024];
  room[0] = caller == NULL ? 0 : *caller + 1;
  return room[0] + fill_stack(room) + room[1];
}

static int by_overflow(int code) { return code + fill_stack(NULL); }

static int by_smash(int code) {
  extern void __stack_chk_fail(void);
  __stack_chk_fail();
  return code;
}

static int by_memory(int code) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  void* block = malloc((size_t)1 << 60);
  if (block == NULL) errno = ENOMEM, err(code, "malloc");
  return 0;
}

// Main's constructors and destructors: which of them ends the program is in the environment.
static int is_asked(const char* what) {
  const char* asked = getenv("ENDS_IN");
  return asked != NULL && !strcmp(asked, what);
}

__attribute__((constructor)) static void construct(void) {
  if (is_asked("constructor_exit")) exit(71);
  if (is_asked("constructor_underscore")) _exit(72);
  if (is_asked("constructor_abort")) abort();
  if (is_asked("constructor_err")) errx(73, "in a constructor");
  if (is_asked("constructor_crash")) crash();
}

__attribute__((destructor)) static void destruct(void) {
  if (is_asked("destructor_output")) puts("the destructor of the program");
  if (is_asked("destructor_underscore")) say("destructor"), _exit(75);
  if (is_asked("destructor_abort")) abort();
  if (is_asked("destructor_crash")) crash();
}

static const Way kWays[] = {{"exit", by_exit},
                            {"_exit", by_underscore},
                            {"_Exit", by_capital},
                            {"quick_exit", by_quick},
                            {"exit_group", by_group},
                            {"return", by_return},
                            {"abort", by_abort},
                            {"assert", by_assert},
                            {"trap", by_trap},
                            {"err", by_err},
                            {"err_without_text", by_errc},
                            {"errx", by_errx},
                            {"verr", by_verr},
                            {"verrx", by_verrx},
                            {"error", by_error},
                            {"error_at_line", by_error_at_line},
                            {"warn", by_warn},
                            {"warnx", by_warnx},
                            {"perror", by_perror},
                            {"argp", by_argp},
                            {"obstack", by_obstack},
                            {"handlers", by_handlers},
                            {"on_exit", by_on_exit},
                            {"quick_handlers", by_quick_handlers},
                            {"pthread_exit", by_pthread_exit},
                            {"thrd_exit", by_thrd_exit},
                            {"exit_while_others", by_exit_while_others},
                            {"exit_of_many", by_exit_of_many},
                            {"main_gone_exit", by_exit_after_main},
                            {"main_gone_abort", by_abort_after_main},
                            {"main_gone_return", by_return},
                            {"system", by_system},
                            {"popen", by_popen},
                            {"spawn", by_spawn},
                            {"missing_child", by_missing_child},
                            {"overflow", by_overflow},
                            {"smash", by_smash},
                            {"memory", by_memory},
                            {NULL, NULL}};

int main(int argc, char** argv) { return run_way(kWays, argc, argv); }
