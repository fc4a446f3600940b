// Ends by signals, of main or of a thread (actor.h); those that come from outside come after the
// line "ready".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "actor.h"

static volatile sig_atomic_t seen;
static sigjmp_buf place;
static sem_t semaphore;

static void note(int number) { seen = number; }
static void post(int number) { seen = number, sem_post(&semaphore); }
static void say_and_exit(int number) {
  printf("the handler of %d\n", number);
  fflush(stdout);
  _exit(80);
}
static void jump(int number) { siglongjmp(place, number); }
static void do_default(int number) { signal(number, SIG_DFL); }
static void raise_again(int number) { signal(number, SIG_DFL), raise(number); }
static void exit_by_handler(int number) { (void)number, exit(83); }

static void install(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (sigaction(number, &action, NULL) != 0) perror("sigaction"), exit(98);
}

static int say_seen(int result) {
  printf("seen: %d\n", (int)seen);
  return result;
}

static sigset_t set_of(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

// What the thread sends itself, or its process.
static int by_raise(int number) { return raise(number), 11; }
static int by_pthread_kill(int number) { return pthread_kill(pthread_self(), number), 12; }
static int by_kill(int number) { return kill(getpid(), number), usleep(300000), 13; }
static int by_sigqueue(int number) {
  union sigval value = {.sival_int = 42};
  return sigqueue(getpid(), number, value), usleep(300000), 14;
}
static int by_group(int number) { return kill(0, number), usleep(300000), 15; }

static int by_handler(int number) {
  install(number, say_and_exit, 0);
  return by_raise(number);
}
static int by_exit_in_handler(int number) {
  install(number, exit_by_handler, 0);
  return by_raise(number);
}
static int by_flag(int number) {
  install(number, note, SA_RESTART);
  raise(number);
  return say_seen(21);
}
static int by_flag_of_process(int number) {
  install(number, post, SA_RESTART);
  kill(getpid(), number);
  while (sem_wait(&semaphore) != 0) continue;
  return say_seen(22);
}
static int by_ignoring(int number) {
  signal(number, SIG_IGN);
  raise(number);
  kill(getpid(), number);
  return 23;
}
static int by_default_again(int number) {
  signal(number, SIG_IGN);
  raise(number);
  say("ignored");
  signal(number, SIG_DFL);
  return by_raise(number);
}
static int by_second_of_two(int number) {
  install(number, note, SA_RESETHAND);
  raise(number);
  say("once");
  return by_raise(number);
}
static int by_unblocking(int number) {
  sigset_t set = set_of(number), pending;
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  raise(number);
  sigpending(&pending);
  printf("pending: %d\n", sigismember(&pending, number));
  fflush(stdout);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  return 24;
}

static void say_info(int number, siginfo_t* info, void* context) {
  (void)context;
  printf("%d: queued %d, value %d, own %d\n", number, info->si_code == SI_QUEUE,
         info->si_value.sival_int, info->si_pid == getpid());
  fflush(stdout);
  seen = number;
}
static int by_info(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = say_info;
  action.sa_flags = SA_SIGINFO;
  sigaction(number, &action, NULL);
  union sigval value = {.sival_int = 42};
  pthread_sigqueue(pthread_self(), number, value);
  return say_seen(25);
}

// Mistakes.
__attribute__((noinline)) static int by_address(int number) {
  *(volatile int*)(long)(16 + number) = 1;
  return 31;
}
static int by_constant(int number) {
  static const char kText[] = "constant";
  *(volatile char*)kText = (char)number;
  return 31;
}
static int by_null_call(int number) {
  int (*volatile nothing)(int) = NULL;
  return nothing(number);
}
static int by_wild_address(int number) { return *(volatile int*)0x8000000000000000ul + number; }
static int by_division(int number) {
  volatile int zero = 0;
  return 7 / zero + number;
}
static int by_instruction(int number) { __builtin_trap(), (void)number; }
static int by_file_that_ends(int number) {
  int fd = memfd_create("empty", 0);
  volatile char* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  return page[0] + number;
}
static int by_mistake_with_handler(int number) {
  install(SIGSEGV, say_and_exit, 0);
  install(SIGFPE, say_and_exit, 0);
  return number == SIGFPE ? by_division(0) : by_address(0);
}
static int by_jump(int number) {
  install(SIGSEGV, jump, SA_NODEFER);
  if (sigsetjmp(place, 1) == 0) return by_address(number);
  say("jumped");
  return 32;
}
static int by_mistake_again(int number) {
  install(SIGSEGV, number == 0 ? do_default : raise_again, 0);
  return by_address(0);
}
static int by_ignored_mistake(int number) {
  signal(number, SIG_IGN);
  return number == SIGFPE ? by_division(0) : by_address(0);
}

__attribute__((noinline)) static int fill_stack(volatile int* caller) {
  volatile int room[1024];
  room[0] = caller == NULL ? 0 : *caller + 1;
  return room[0] + fill_stack(room) + room[1];
}
static int by_handled_overflow(int number) {
  static char stack[1 << 18];
  stack_t use = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&use, NULL);
  install(SIGSEGV, say_and_exit, SA_ONSTACK);
  return number + fill_stack(NULL);
}

static int by_abort(int number) {
  static void (*const kHandlers[])(int) = {note, jump, say_and_exit};
  if (number == 3) {
    signal(SIGABRT, SIG_IGN);
  } else {
    install(SIGABRT, kHandlers[number], 0);
  }
  if (sigsetjmp(place, 1) == 0) abort();
  return 33;
}

// The kernel's.
static int by_timer(int handled) {
  struct itimerval soon = {{0, 0}, {0, 50000}};
  if (handled == 1) install(SIGALRM, say_and_exit, 0);
  if (handled == 2) install(SIGALRM, post, SA_RESTART);
  if (handled == 3) signal(SIGALRM, SIG_IGN);
  setitimer(ITIMER_REAL, &soon, NULL);
  if (handled == 3) usleep(300000);
  while (handled != 3 && sem_wait(&semaphore) != 0) continue;
  return say_seen(34);
}
static int by_closed_pipe(int ignored) {
  int ends[2];
  if (ignored) signal(SIGPIPE, SIG_IGN);
  if (pipe(ends) != 0) return 97;
  close(ends[0]);
  ssize_t written = write(ends[1], "x", 1);
  printf("%zd %s\n", written, strerrorname_np(errno));
  return 35;
}
static int by_file_size(int ignored) {
  struct rlimit limit = {10, 10};
  char text[100] = {0};
  if (ignored) signal(SIGXFSZ, SIG_IGN);
  int fd = memfd_create("file", 0);
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 96;
  ssize_t first = write(fd, text, 10), second = write(fd, text, 10);
  int error = errno;
  limit.rlim_cur = limit.rlim_max;
  printf("%zd %zd %s\n", first, second, strerrorname_np(error));
  return 36;
}

// From outside, or at a time that another process decides.
static int wait_for_signal(int result) {
  say("ready");
  while (sem_wait(&semaphore) != 0) continue;
  return say_seen(result);
}
static int outside(int number) { return (void)number, wait_for_signal(41); }
static int outside_handler(int number) {
  install(number, say_and_exit, 0);
  return wait_for_signal(42);
}
static int outside_exit(int number) {
  install(number, exit_by_handler, 0);
  return wait_for_signal(42);
}
static int outside_flag(int number) {
  install(number, post, SA_RESTART);
  return wait_for_signal(43);
}
static int outside_ignored(int number) {
  signal(number, SIG_IGN);
  say("ready");
  usleep(700000);
  return say_seen(44);
}
static int outside_locked(int number) {
  install(number, exit_by_handler, 0);
  say("ready");
  sem_wait(&semaphore);
  return 46;
}
static int wait_for(int number) {
  sigset_t set = set_of(number);
  int got = 0;
  say("ready");
  int error = sigwait(&set, &got);
  printf("sigwait: %d %d\n", error, got);
  return 47;
}
static int wait_for_info(int number) {
  sigset_t set = set_of(number);
  siginfo_t info;
  say("ready");
  int got = sigwaitinfo(&set, &info);
  printf("sigwaitinfo: %d, by kill %d\n", got, info.si_code == SI_USER);
  return 48;
}
static int wait_for_nothing(int number) {
  sigset_t set = set_of(number);
  struct timespec soon = {0, 10000000};
  int got = sigtimedwait(&set, NULL, &soon);
  printf("sigtimedwait: %d %s\n", got, strerrorname_np(errno));
  return 49;
}
static int wait_by_fd(int number) {
  sigset_t set = set_of(number);
  struct signalfd_siginfo info;
  int fd = signalfd(-1, &set, 0);
  say("ready");
  ssize_t got = read(fd, &info, sizeof info);
  printf("signalfd: %d %u\n", got == sizeof info, info.ssi_signo);
  return 50;
}

static const Way kWays[] = {{"raise", by_raise},
                            {"pthread_kill", by_pthread_kill},
                            {"kill", by_kill},
                            {"sigqueue", by_sigqueue},
                            {"group", by_group},
                            {"handler", by_handler},
                            {"exit_in_handler", by_exit_in_handler},
                            {"flag", by_flag},
                            {"flag_of_process", by_flag_of_process},
                            {"ignoring", by_ignoring},
                            {"default_again", by_default_again},
                            {"second_of_two", by_second_of_two},
                            {"unblocking", by_unblocking},
                            {"info", by_info},
                            {"address", by_address},
                            {"constant", by_constant},
                            {"null_call", by_null_call},
                            {"wild_address", by_wild_address},
                            {"division", by_division},
                            {"instruction", by_instruction},
                            {"file_that_ends", by_file_that_ends},
                            {"mistake_with_handler", by_mistake_with_handler},
                            {"jump", by_jump},
                            {"mistake_again", by_mistake_again},
                            {"ignored_mistake", by_ignored_mistake},
                            {"handled_overflow", by_handled_overflow},
                            {"abort", by_abort},
                            {"timer", by_timer},
                            {"closed_pipe", by_closed_pipe},
                            {"file_size", by_file_size},
                            {"outside", outside},
                            {"outside_handler", outside_handler},
                            {"outside_exit", outside_exit},
                            {"outside_flag", outside_flag},
                            {"outside_ignored", outside_ignored},
                            {"outside_locked", outside_locked},
                            {"wait_for", wait_for},
                            {"wait_for_info", wait_for_info},
                            {"wait_for_nothing", wait_for_nothing},
                            {"wait_by_fd", wait_by_fd},
                            {NULL, NULL}};

// Threads have the mask of main: a signal that one waits for is closed in all.
int main(int argc, char** argv) {
  sigset_t set;
  const char* number = argc > 1 ? strchr(argv[1], ':') : NULL;
  sem_init(&semaphore, 0, 0);
  if (number != NULL && !strncmp(argv[1], "wait", 4)) {
    set = set_of(atoi(number + 1));
    sigprocmask(SIG_BLOCK, &set, NULL);
  }
  return run_way(kWays, argc, argv);
}
