// Rights and limits of a process, which all of its threads have. argv[1]: what to change.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 3, kNobody = 65534 };

static pthread_barrier_t step;
static int wrong;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void look(void) {
  uid_t user[3];
  gid_t group[3];
  getresuid(&user[0], &user[1], &user[2]);
  getresgid(&group[0], &group[1], &group[2]);
  int bad = getgroups(0, NULL) != 1;
  for (int i = 0; i < 3; ++i) bad += user[i] != kNobody || group[i] != kNobody;
  int file = open("/etc/shadow", O_RDONLY);
  bad += file >= 0 || setuid(0) == 0;
  pthread_mutex_lock(&lock);
  wrong += bad;
  pthread_mutex_unlock(&lock);
}

static void* early(void* unused) {
  pthread_barrier_wait(&step);
  pthread_barrier_wait(&step);
  look();
  return unused;
}

static void* late(void* unused) {
  look();
  return unused;
}

// Threads from before the change and from after it.
static int drop(const char* by) {
  pthread_t threads[2 * kThreads];
  gid_t groups[1] = {kNobody};
  pthread_barrier_init(&step, NULL, kThreads + 1);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, early, NULL);
  pthread_barrier_wait(&step);
  int failed = setgroups(1, groups);
  if (strcmp(by, "setuid") == 0) failed += setgid(kNobody) + setuid(kNobody);
  if (strcmp(by, "setreuid") == 0)
    failed += setregid(kNobody, kNobody) + setreuid(kNobody, kNobody);
  if (strcmp(by, "setresuid") == 0)
    failed += setresgid(kNobody, kNobody, kNobody) + setresuid(kNobody, kNobody, kNobody);
  pthread_barrier_wait(&step);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[kThreads + i], NULL, late, NULL);
  for (int i = 0; i < 2 * kThreads; ++i) pthread_join(threads[i], NULL);
  look();
  return failed + wrong;
}

// An effective user for a while, as a server does it.
static void* look_at_effective(void* expected) {
  pthread_mutex_lock(&lock);
  wrong += geteuid() != (uid_t)(size_t)expected || getegid() != (gid_t)(size_t)expected;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static int drop_and_take_back(void) {
  for (int turn = 0; turn < 4; ++turn) {
    uid_t wanted = turn % 2 == 0 ? kNobody : 0;
    if (wanted == 0 && seteuid(0) != 0) return 1;
    if (setegid(wanted) != 0 || (wanted != 0 && seteuid(wanted) != 0)) return 1;
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i)
      pthread_create(&threads[i], NULL, look_at_effective, (void*)(size_t)wanted);
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  }
  return wrong;
}

static int refuse(void) {
  int bad = unshare(CLONE_NEWNET) != -1 || errno != EPERM;
  bad += setns(0, CLONE_NEWNET) != -1 || errno != EPERM;
  return bad;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int bad = 1;
  if (strncmp(mode, "set", 3) == 0) bad = drop(mode);
  if (strcmp(mode, "effective") == 0) bad = drop_and_take_back();
  if (strcmp(mode, "refused") == 0) bad = refuse();
  printf("%s\n", bad == 0 ? "good" : "BAD");
  return bad != 0;
}
