// Timers whose function runs in a thread (SIGEV_THREAD), and others, are those of the program:
// threads of any node set them and delete them, and the function has the program's memory.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kTicks = 10, kTimers = 3 };

static const char* wrong;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static timer_t timers[kTimers];
static int ticks[kTimers];
static char* texts[kTimers];
static sem_t has_come;  // the signal
static volatile sig_atomic_t value_of_signal;

static void expect(int holds, const char* what) {
  if (!holds && wrong == NULL) wrong = what;
}

static void tick(union sigval value) {
  int i = value.sival_int;
  pthread_mutex_lock(&mutex);
  free(texts[i]);
  texts[i] = malloc(32);
  snprintf(texts[i], 32, "tick %d of timer %d", ++ticks[i], i);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  value_of_signal = info->si_value.sival_int;
  sem_post(&has_come);
}

static void make(int i) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
  event.sigev_value.sival_int = i;
  expect(timer_create(CLOCK_MONOTONIC, &event, &timers[i]) == 0, "timer_create");
}

static void set(timer_t timer, long first_ns, long period_ns) {
  struct itimerspec when = {.it_value.tv_nsec = first_ns, .it_interval.tv_nsec = period_ns};
  expect(timer_settime(timer, 0, &when, NULL) == 0, "timer_settime");
}

static void* make_in_thread(void* number) {
  make((int)(long)number);
  return NULL;
}

static void* use_in_thread(void* number) {
  int i = (int)(long)number;
  struct itimerspec now;
  set(timers[i], 1000000, 5000000);
  pthread_mutex_lock(&mutex);
  while (ticks[i] < kTicks) pthread_cond_wait(&changed, &mutex);
  int last = 0, timer = -1;
  expect(sscanf(texts[i], "tick %d of timer %d", &last, &timer) == 2 && last >= kTicks, "a text");
  expect(timer == i, "the value of another timer");
  pthread_mutex_unlock(&mutex);
  expect(timer_gettime(timers[i], &now) == 0 && now.it_interval.tv_nsec == 5000000,
         "timer_gettime");
  expect(timer_getoverrun(timers[i]) >= 0, "timer_getoverrun");
  expect(timer_delete(timers[i]) == 0, "timer_delete");
  expect(timer_gettime(timers[i], &now) == -1 && errno == EINVAL, "a timer that was deleted");
  return NULL;
}

static void* send_signal(void* unused) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  timer_t timer;
  event.sigev_value.sival_int = 42;
  expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "a timer that sends a signal");
  set(timer, 1000000, 0);
  while (sem_wait(&has_come) != 0) continue;
  expect(timer_delete(timer) == 0, "timer_delete in its thread");
  return unused;
}

static void in_thread(void* (*function)(void*), long argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, (void*)argument);
  pthread_join(thread, NULL);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  sem_init(&has_come, 0, 0);
  sigaction(SIGUSR1, &action, NULL);
  make(0);
  in_thread(make_in_thread, 1);
  in_thread(make_in_thread, 2);
  for (long i = 0; i < kTimers; ++i) in_thread(use_in_thread, i);
  in_thread(send_signal, 0);
  expect(value_of_signal == 42, "the value of a timer's signal");
  puts(wrong == NULL ? "good" : wrong);
  return wrong != NULL;
}
