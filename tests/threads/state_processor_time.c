// The processor time of a process is that of all its threads, on whatever node they run, and never
// goes backwards for threads that read it one after the other.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4, kReadings = 25 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char* wrong;
static double last, of_threads;

static double seconds(struct timespec time) { return time.tv_sec + time.tv_nsec / 1e9; }

static double by_clock(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? seconds(now) : -1;
}

static double by_usage(int who) {
  struct rusage use;
  if (getrusage(who, &use) != 0) return -1;
  return use.ru_utime.tv_sec + use.ru_stime.tv_sec +
         (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static double by_times(void) {
  struct tms all;
  if (times(&all) == (clock_t)-1) return -1;
  return (double)(all.tms_utime + all.tms_stime) / sysconf(_SC_CLK_TCK);
}

static void expect(int holds, const char* what) {
  if (!holds && wrong == NULL) wrong = what;
}

static void* compute(void* unused) {
  while (by_clock(CLOCK_THREAD_CPUTIME_ID) < 0.1) continue;
  for (int i = 0; i < kReadings; ++i) {
    pthread_mutex_lock(&mutex);
    double now = by_clock(CLOCK_PROCESS_CPUTIME_ID);
    expect(now >= last, "the processor time has gone backwards");
    last = now;
    pthread_mutex_unlock(&mutex);
  }
  double own = by_clock(CLOCK_THREAD_CPUTIME_ID), used = by_usage(RUSAGE_THREAD);
  pthread_mutex_lock(&mutex);
  of_threads += own;
  expect(used > 0.05 && used < by_usage(RUSAGE_SELF), "RUSAGE_THREAD");
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, compute, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  clockid_t clock_of_process;
  struct {
    const char* name;
    double seconds;
  } all[] = {
      {"clock", (double)clock() / CLOCKS_PER_SEC},
      {"CLOCK_PROCESS_CPUTIME_ID", by_clock(CLOCK_PROCESS_CPUTIME_ID)},
      {"getrusage", by_usage(RUSAGE_SELF)},
      {"times", by_times() + 0.05},  // in ticks, of each thread and node
      {"clock_getcpuclockid",
       clock_getcpuclockid(getpid(), &clock_of_process) == 0 ? by_clock(clock_of_process) : -1},
  };
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i)
    expect(all[i].seconds >= of_threads, all[i].name);
  puts(wrong == NULL ? "good" : wrong);
  return wrong != NULL;
}
