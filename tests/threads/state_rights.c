// Rights and limits of a process, which all of its threads have. argv[1]: what to change.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int capget(cap_user_header_t head, cap_user_data_t data);
int capset(cap_user_header_t head, const cap_user_data_t data);

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

// Runs look(argument) in threads of all nodes; how often it finds something wrong.
static int in_threads(void* (*look_at)(void*), void* argument) {
  pthread_t threads[kThreads];
  int bad = 0;
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, look_at, argument);
  for (int i = 0; i < kThreads; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    bad += result != NULL;
  }
  return bad;
}

static void* wrong_if(int condition) { return condition ? (void*)1 : NULL; }

static struct rlimit files_at_start;

static void* look_at_limits(void* unused) {
  (void)unused;
  struct rlimit core, files;
  getrlimit(RLIMIT_CORE, &core);
  prlimit(0, RLIMIT_NOFILE, NULL, &files);
  return wrong_if(core.rlim_cur != 4096 || core.rlim_max != 8192 || files.rlim_cur != 777 ||
                  files.rlim_max != files_at_start.rlim_max || sysconf(_SC_OPEN_MAX) != 777 ||
                  getdtablesize() != 777);
}

static void* see_files_at_start(void* unused) {
  (void)unused;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  return wrong_if(files.rlim_cur != files_at_start.rlim_cur);
}

static void* set_limits(void* unused) {
  (void)unused;
  struct rlimit core = {4096, 8192}, files = {777, files_at_start.rlim_max}, none = {2, 1};
  int bad = setrlimit(RLIMIT_CORE, &core) + prlimit(getpid(), RLIMIT_NOFILE, &files, NULL);
  bad += setrlimit(RLIMIT_CORE, &none) != -1 || errno != EINVAL;
  return wrong_if(bad != 0);
}

static int limits(void) {
  getrlimit(RLIMIT_NOFILE, &files_at_start);
  int bad = in_threads(see_files_at_start, NULL);
  bad += in_threads(set_limits, NULL);
  return bad + in_threads(look_at_limits, NULL) + (look_at_limits(NULL) != NULL);
}

// What a thread has of its own, and a new thread inherits.
static int has_given_up(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct own[2];
  if (capget(&head, own) != 0) return 0;
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && own[0].effective == 0 &&
         own[1].permitted == 0 && getpriority(PRIO_PROCESS, 0) == 7 && setfsgid(-1) == 77 &&
         prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0 && strlen(name) > 0;
}

static void* look_at_heirs(void* deep) {
  if (!has_given_up()) return (void*)1;
  return wrong_if(deep != NULL && in_threads(look_at_heirs, NULL) != 0);
}

static int inherited(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  setfsgid(77);
  int bad = prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) + prctl(PR_SET_NAME, "a name");
  bad += prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) + setpriority(PRIO_PROCESS, 0, 7);
  bad += capset(&head, none) + !has_given_up();
  return bad + in_threads(look_at_heirs, (void*)1);
}

// The kernel's own call changes one thread and its heirs.
static void* look_at_user(void* unused) {
  (void)unused;
  return wrong_if(geteuid() != kNobody || getegid() != kNobody);
}

static void* be_nobody(void* unused) {
  (void)unused;
  if (syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0) return (void*)1;
  if (syscall(SYS_setresuid, kNobody, kNobody, kNobody) != 0) return (void*)1;
  return wrong_if(look_at_user(NULL) != NULL || in_threads(look_at_user, NULL) != 0);
}

static int of_one_thread(void) { return in_threads(be_nobody, NULL) + (geteuid() != 0); }

static void* look_at_root(void* path) {
  struct stat facts;
  return wrong_if(stat("/inside", &facts) != 0 || stat(path, &facts) == 0);
}

static int change_root(void) {
  char folder[] = "/tmp/terrane_root_XXXXXX", path[100];
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(path, sizeof path, "%s/inside", folder);
  int outer = open("/", O_RDONLY), bad = mkdir(path, 0700);
  bad += chroot(folder) + chdir("/") + in_threads(look_at_root, folder);
  bad += fchdir(outer) + chroot(".") + rmdir(path) + rmdir(folder);
  return bad;
}

static void* look_at_dumps(void* unused) {
  (void)unused;
  return wrong_if(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0);
}

static int of_process(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) + in_threads(look_at_dumps, NULL);
}

static int refuse(void) {
  int bad = unshare(CLONE_NEWNET) != -1 || errno != EPERM;
  bad += setns(0, CLONE_NEWNET) != -1 || errno != EPERM;
  static char too_long[1000];
  bad += sethostname(too_long, sizeof too_long) != -1 || errno != EPERM;
  bad += prctl(PR_SET_SECCOMP, 1, 0, 0, 0) != -1 || errno != EPERM;
  bad += syscall(SYS_seccomp, 0, 0, NULL) != -1 || errno != EPERM;
  bad += syscall(SYS_unshare, CLONE_FILES) != -1 || errno != EPERM;
  return bad;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  struct {
    const char* name;
    int (*run)(void);
  } modes[] = {{"effective", drop_and_take_back},
               {"limits", limits},
               {"inherited", inherited},
               {"of_one_thread", of_one_thread},
               {"chroot", change_root},
               {"of_process", of_process},
               {"refused", refuse}};
  int bad = 1;
  if (strncmp(mode, "set", 3) == 0) bad = drop(mode);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i)
    if (strcmp(mode, modes[i].name) == 0) bad = modes[i].run();
  printf("%s\n", bad == 0 ? "good" : "BAD");
  return bad != 0;
}
