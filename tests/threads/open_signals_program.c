// Signals for the process of which all threads but one keep out: that one has them open, or waits
// for them. Prints what it has got.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 3, kValue = 71 };

static const char* mode;
static sigset_t served;
static volatile sig_atomic_t got, in_thread, value;
static __thread int is_signal_thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ends, is_ready;

static void note(int signal_number, siginfo_t* info, void* context) {
  (void)context;
  in_thread = is_signal_thread;
  value = info->si_value.sival_int;
  got = signal_number;
}

static void say(int* what) {
  pthread_mutex_lock(&mutex);
  *what = 1;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
}

static void await(const int* what) {
  pthread_mutex_lock(&mutex);
  while (!*what) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void* serve(void* unused) {
  (void)unused;
  is_signal_thread = 1;
  sigset_t none;
  sigemptyset(&none);
  int taken = 0;
  if (strcmp(mode, "waits") != 0 && strcmp(mode, "suspends") != 0)
    pthread_sigmask(SIG_UNBLOCK, &served, NULL);
  say(&is_ready);
  if (strcmp(mode, "waits") == 0) {
    if (sigwait(&served, &taken) == 0) got = taken, in_thread = 1;
  } else if (strcmp(mode, "suspends") == 0) {
    while (!got) sigsuspend(&none);
  } else if (strcmp(mode, "computes") == 0) {
    while (!got) continue;
  } else {
    while (!got) usleep(1000000);
  }
  say(&ends);
  return NULL;
}

static void* work(void* unused) {
  (void)unused;
  await(&ends);
  return NULL;
}

// A thread that has the signal closed for moments alone.
static void* open_for_moments(void* unused) {
  while (!got) {
    pthread_sigmask(SIG_UNBLOCK, &served, NULL);
    pthread_sigmask(SIG_BLOCK, &served, NULL);
  }
  return unused;
}

int main(int count, char** arguments) {
  mode = count > 1 ? arguments[1] : "";
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  sigemptyset(&served);
  for (int i = 2; i < count; ++i) sigaddset(&served, atoi(arguments[i]));
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO;
  for (int i = 2; i < count && strcmp(mode, "dies") != 0; ++i)
    sigaction(atoi(arguments[i]), &action, NULL);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], NULL,
                   i != 0                         ? work
                   : strcmp(mode, "moments") == 0 ? open_for_moments
                                                  : serve,
                   NULL);
  if (strcmp(mode, "moments") == 0) {
    kill(getpid(), SIGUSR1);
    pthread_join(threads[0], NULL);
    say(&ends);
  } else {
    await(&is_ready);
  }
  if (strcmp(mode, "queued") == 0) {
    union sigval sent = {.sival_int = kValue};
    pthread_sigqueue(threads[0], SIGUSR1, sent);
  }
  puts("up");
  fflush(stdout);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  printf("SIG%s, %s thread, %s value\n", sigabbrev_np(got), in_thread ? "its" : "another",
         value == kValue ? "its" : "no");
  return 0;
}
