// Signals of one process, whose threads run on several nodes. Prints "good".
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4 };

static int mistakes;
static volatile sig_atomic_t seen, last_value;
static sem_t semaphore, killed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int shared_count;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s (errno %s)\n", what, strerror(errno));
  __atomic_add_fetch(&mistakes, 1, __ATOMIC_SEQ_CST);
}

static void install(int signal_number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  expect(sigaction(signal_number, &action, NULL) == 0, "sigaction");
}

static void install_with_value(int signal_number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  expect(sigaction(signal_number, &action, NULL) == 0, "sigaction");
}

static void run_threads(void* (*work)(void*), void* argument) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    expect(pthread_create(&threads[i], NULL, work, argument) == 0, "pthread_create");
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

static void post(int signal_number) {
  (void)signal_number;
  sem_post(&semaphore);
}

static void post_killed(int signal_number) {
  (void)signal_number;
  sem_post(&killed);
}

static void note_value(int signal_number, siginfo_t* info, void* context) {
  (void)signal_number, (void)context;
  last_value = info->si_value.sival_int;
  sem_post(&semaphore);
}

static void note(int signal_number) { seen = signal_number; }

// What main has installed runs for a signal that any thread sends to itself, or to the process.
static void* send_to_process(void* process) {
  expect(getpid() == *(pid_t*)process, "one process number");
  expect(getpgid(0) == getpgrp() && getppid() > 0, "groups");
  struct sigaction now;
  expect(sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == post, "the action of main");
  expect(raise(SIGUSR1) == 0, "raise");
  expect(kill(getpid(), 0) == 0, "the process is there");
  expect(pthread_kill(pthread_self(), SIGUSR1) == 0, "pthread_kill of itself");
  expect(pthread_kill(pthread_self(), 99) == EINVAL, "pthread_kill of no signal");
  sem_wait(&semaphore);
  sem_wait(&semaphore);
  pthread_mutex_lock(&mutex);
  expect(kill(getpid(), SIGUSR2) == 0, "kill");
  sem_wait(&killed);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void self_sent(void) {
  pid_t process = getpid();
  install(SIGUSR1, post, SA_RESTART);
  install(SIGUSR2, post_killed, SA_RESTART);
  sem_init(&killed, 0, 0);
  run_threads(send_to_process, &process);
  install_with_value(SIGUSR2, note_value);
  union sigval value = {.sival_int = 17};
  expect(sigqueue(getpid(), SIGUSR2, value) == 0, "sigqueue");
  while (sem_wait(&semaphore) != 0) continue;
  expect(last_value == 17, "the value of sigqueue");
}

static void* queue_value(void* unused) {
  (void)unused;
  union sigval value = {.sival_int = 23};
  expect(sigqueue(getpid(), SIGUSR2, value) == 0, "sigqueue of a thread");
  return NULL;
}

static void queued(void) {
  install_with_value(SIGUSR2, note_value);
  pthread_t thread;
  pthread_create(&thread, NULL, queue_value, NULL);
  pthread_join(thread, NULL);
  while (sem_wait(&semaphore) != 0) continue;
  expect(last_value == 23, "the value of sigqueue");
}

// A thread waits for the signals that all threads have closed.
static void* take_signals(void* raw) {
  sigset_t* set = raw;
  int got = 0;
  expect(sigwait(set, &got) == 0 && got == SIGTERM, "sigwait");
  sem_post(&semaphore);
  siginfo_t info;
  expect(sigwaitinfo(set, &info) == SIGUSR1 && info.si_signo == SIGUSR1, "sigwaitinfo");
  struct timespec soon = {0, 1000000};
  expect(sigtimedwait(set, NULL, &soon) == -1 && errno == EAGAIN, "sigtimedwait");
  int fd = signalfd(-1, set, SFD_CLOEXEC);
  struct signalfd_siginfo read_info;
  sem_post(&semaphore);
  expect(read(fd, &read_info, sizeof read_info) == sizeof read_info, "signalfd");
  expect(read_info.ssi_signo == SIGUSR1, "the signal of signalfd");
  close(fd);
  sem_post(&semaphore);
  expect(sigwait(set, &got) == 0 && got == SIGUSR2, "a signal for the thread that waits");
  return NULL;
}

static void waited_for(void) {
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  kill(getpid(), SIGTERM);
  sigpending(&pending);
  expect(sigismember(&pending, SIGTERM) == 1, "sigpending");
  pthread_t thread;
  pthread_create(&thread, NULL, take_signals, &set);
  sem_wait(&semaphore);
  kill(getpid(), SIGUSR1);
  sem_wait(&semaphore);
  kill(getpid(), SIGUSR1);
  sem_wait(&semaphore);
  usleep(20000);
  expect(pthread_kill(thread, SIGUSR2) == 0, "pthread_kill");
  pthread_join(thread, NULL);
}

// A signal wakes a thread of another node from a system call.
static void* sleep_long(void* unused) {
  (void)unused;
  sem_post(&semaphore);
  expect(sleep(100) > 0, "a sleep that a signal ends");
  expect(seen == SIGUSR1, "the handler ran first");
  return NULL;
}

static void other_threads(void) {
  install(SIGUSR1, note, 0);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    pthread_create(&threads[i], NULL, sleep_long, NULL);
    sem_wait(&semaphore);
    usleep(20000);
    expect(pthread_kill(threads[i], SIGUSR1) == 0, "pthread_kill of another thread");
    pthread_join(threads[i], NULL);
  }
}

// In a handler memory may be used, semaphores posted and bytes written, whatever it has
// interrupted.
static int pipe_ends[2];
static volatile int ticks;
static void work_in_handler(int signal_number) {
  (void)signal_number;
  ++ticks;
  __atomic_add_fetch(&shared_count, 1, __ATOMIC_SEQ_CST);
  char byte = 'x';
  if (write(pipe_ends[1], &byte, 1) == 1) sem_post(&semaphore);
}

static void tick_every(long us) {
  struct itimerval time = {{0, us}, {0, us}};
  expect(setitimer(ITIMER_REAL, &time, NULL) == 0, "setitimer");
}

static void* hold_for_long(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  sem_post(&semaphore);
  usleep(300000);
  ++shared_count;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void* count_long(void* unused) {
  (void)unused;
  for (int i = 0; i < 2000; ++i) {
    pthread_mutex_lock(&mutex);
    ++shared_count;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void in_waits(void) {
  expect(pipe(pipe_ends) == 0, "pipe");
  install(SIGALRM, work_in_handler, SA_RESTART);
  pthread_t thread;
  tick_every(5000);
  for (int i = 0; i < 20; ++i) sem_wait(&semaphore);
  pthread_create(&thread, NULL, hold_for_long, NULL);
  sem_wait(&semaphore);
  pthread_mutex_lock(&mutex);
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 1;
  while (pthread_cond_timedwait(&condition, &mutex, &end) == 0) continue;
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  tick_every(500);
  pthread_create(&thread, NULL, count_long, NULL);
  count_long(NULL);
  pthread_join(thread, NULL);
  tick_every(0);
  expect(ticks > 40, "handlers ran");
  for (int i = 0; i < ticks; ++i) {
    char byte = 0;
    expect(read(pipe_ends[0], &byte, 1) == 1 && byte == 'x', "what the handler wrote");
  }
}

// The waits that a signal ends.
static int reading_end;
static void interrupt_me(int signal_number) { seen = signal_number; }
static void* are_interrupted(void* unused) {
  (void)unused;
  expect(sem_wait(&semaphore) == -1 && errno == EINTR, "sem_wait ends with EINTR");
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 100;
  expect(sem_timedwait(&semaphore, &end) == -1 && errno == EINTR, "sem_timedwait");
  char byte;
  expect(read(reading_end, &byte, 1) == -1 && errno == EINTR, "read of another node's pipe");
  expect(poll(NULL, 0, 100000) == -1 && errno == EINTR, "poll");
  return NULL;
}

static void interrupted(void) {
  int ends[2];
  expect(pipe(ends) == 0, "pipe");
  reading_end = ends[0];
  install(SIGUSR1, interrupt_me, 0);
  pthread_t thread;
  for (int i = 0; i < 2; ++i) {
    pthread_create(&thread, NULL, are_interrupted, NULL);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
      pthread_kill(thread, SIGUSR1);
      usleep(30000);
    }
  }
}

static void* write_to_nobody(void* unused) {
  (void)unused;
  int ends[2];
  expect(pipe(ends) == 0, "pipe");
  close(ends[0]);
  expect(write(ends[1], "x", 1) == -1 && errno == EPIPE, "a pipe without a reader");
  close(ends[1]);
  return NULL;
}

static void ignored(void) {
  signal(SIGPIPE, SIG_IGN);
  run_threads(write_to_nobody, NULL);
}

static void* set_alarm(void* unused) {
  (void)unused;
  struct itimerval time = {{0, 0}, {100, 0}}, before;
  pthread_mutex_lock(&mutex);
  expect(setitimer(ITIMER_REAL, &time, NULL) == 0, "setitimer");
  expect(alarm(1) == 100, "alarm tells what was left");
  expect(getitimer(ITIMER_REAL, &before) == 0 && before.it_value.tv_sec < 2, "getitimer");
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void alarms(void) {
  install(SIGALRM, post, SA_RESTART);
  run_threads(set_alarm, NULL);
  alarm(0);
  install(SIGALRM, SIG_DFL, 0);
  install(SIGALRM, post, SA_RESTART);
  pthread_t thread;
  pthread_create(&thread, NULL, set_alarm, NULL);
  pthread_join(thread, NULL);
  sem_wait(&semaphore);
}

// Runs until a signal from outside has come, and a moment longer: the last line says how many came.
static volatile sig_atomic_t all_seen;
static void note_all(int signal_number) {
  seen = signal_number;
  ++all_seen;
}

static void* work_on(void* unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&mutex);
    int ends = shared_count;
    pthread_mutex_unlock(&mutex);
    if (ends) return NULL;
    usleep(1000);
  }
}

static void served(void) {
  for (int number = 1; number < 32; ++number)
    if (number != SIGKILL && number != SIGSTOP && number != SIGSEGV && number != SIGBUS &&
        number != SIGCHLD && number != SIGABRT && number != SIGCONT)
      signal(number, note_all);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work_on, NULL);
  puts("up");
  fflush(stdout);
  while (!seen) usleep(10000);
  struct timespec left = {0, 400000000};
  while (nanosleep(&left, &left) != 0) continue;
  pthread_mutex_lock(&mutex);
  shared_count = 1;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("saved after SIG%s, %d in all\n", sigabbrev_np(seen), (int)all_seen);
}

static void* die(void* signal_number) {
  raise(*(int*)signal_number);
  return NULL;
}

static timer_t start_timer(int signal_number, long ns) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
  struct itimerspec each = {{0, ns}, {0, ns}};
  timer_t timer;
  expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  expect(timer_settime(timer, 0, &each, NULL) == 0, "timer_settime");
  return timer;
}

// Two timers meet main, which computes: the second signal comes while the first handler posts.
static void handlers_meet(void) {
  sem_init(&killed, 0, 0);
  install(SIGUSR1, post_killed, 0);
  install(SIGUSR2, post_killed, 0);
  timer_t timers[] = {start_timer(SIGUSR1, 37000), start_timer(SIGUSR2, 41000)};
  struct timespec from, now;
  clock_gettime(CLOCK_MONOTONIC, &from);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec - from.tv_sec + (now.tv_nsec - from.tv_nsec) * 1e-9 < 1);
  for (int i = 0; i < 2; ++i) timer_delete(timers[i]);
  int posts = 0;
  while (sem_trywait(&killed) == 0) ++posts;
  expect(posts > 100, "handlers post");
}

int main(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "";
  sem_init(&semaphore, 0, 0);
  if (strcmp(mode, "self_sent") == 0) self_sent();
  if (strcmp(mode, "queued") == 0) queued();
  if (strcmp(mode, "waited_for") == 0) waited_for();
  if (strcmp(mode, "other_threads") == 0) other_threads();
  if (strcmp(mode, "in_waits") == 0) in_waits();
  if (strcmp(mode, "interrupted") == 0) interrupted();
  if (strcmp(mode, "ignored") == 0) ignored();
  if (strcmp(mode, "alarms") == 0) alarms();
  if (strcmp(mode, "served") == 0) served();
  if (strcmp(mode, "handlers_meet") == 0) handlers_meet();
  if (strcmp(mode, "dies") == 0) {
    int signal_number = atoi(arguments[2]);
    run_threads(die, &signal_number);
  }
  puts(mistakes == 0 ? "good" : "wrong");
  return mistakes != 0;
}
