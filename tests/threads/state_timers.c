// Timers whose function runs in a thread of the C library (SIGEV_THREAD). With the argument
// "refused" they are refused on every node, and timers that send a signal are not.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ticks;

static void tick(union sigval value) {
  pthread_mutex_lock(&mutex);
  ticks += value.sival_int;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static int make(timer_t* timer, int notify) {
  struct sigevent event = {.sigev_notify = notify, .sigev_signo = SIGUSR1};
  if (notify == SIGEV_THREAD) event.sigev_notify_function = tick;
  event.sigev_value.sival_int = 1;
  return timer_create(CLOCK_MONOTONIC, &event, timer);
}

static void* is_refused(void* good) {
  timer_t timer;
  *(int*)good = make(&timer, SIGEV_THREAD) == -1 && errno == ENOTSUP;
  return NULL;
}

static int are_refused(void) {
  int in_main = 0, in_thread = 0;
  timer_t timer;
  pthread_t thread;
  is_refused(&in_main);
  pthread_create(&thread, NULL, is_refused, &in_thread);
  pthread_join(thread, NULL);
  return in_main && in_thread && make(&timer, SIGEV_SIGNAL) == 0 && timer_delete(timer) == 0;
}

static int is_served(void) {
  timer_t timer;
  if (make(&timer, SIGEV_THREAD) != 0) return 0;
  struct itimerspec soon = {.it_value.tv_nsec = 1000000};
  timer_settime(timer, 0, &soon, NULL);
  pthread_mutex_lock(&mutex);
  while (ticks == 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return timer_delete(timer) == 0;
}

int main(int argc, char** argv) {
  int refused = argc > 1 && strcmp(argv[1], "refused") == 0;
  puts((refused ? are_refused() : is_served()) ? "good" : "wrong");
  return 0;
}
