// What a process has once: each thread of the program, on whatever node, has the same of it. Prints
// what they see.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>
#include <wctype.h>

enum { kThreads = 3 };

static void in_threads(void* (*function)(void*)) {
  for (long i = 0; i < kThreads; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, (void*)i);
    pthread_join(thread, NULL);
  }
}

static void* draw(void* number) {
  unsigned short own[3] = {1, 2, (unsigned short)(long)number};
  printf("%.6f %ld %ld\n", erand48(own), nrand48(own), jrand48(own));
  unsigned short seed[3] = {7, 8, 9};
  unsigned short* before = seed48(seed);
  printf("%d %d %d %ld %ld\n", before[0], before[1], before[2], lrand48(), random());
  return NULL;
}

static void numbers(void) {
  static char state[64];
  unsigned short constants[7] = {1, 2, 3, 4, 5, 6, 7};
  lcong48(constants);
  in_threads(draw);
  char* before = initstate(5, state, sizeof state);
  in_threads(draw);
  printf("%d\n", setstate(before) == state);
  in_threads(draw);
  srand48(3);
  in_threads(draw);
}

static sem_t* semaphore;
static int shared;
static char name[64];

static void* pass(void* unused) {
  struct timespec soon = {0, 0};
  sem_t* same = sem_open(name, 0);
  printf("%d %d\n", same == semaphore, sem_wait(same));
  printf("%d\n", ++shared);
  int value = -1;
  printf("%d", sem_trywait(semaphore));
  printf(" %d\n", errno == EAGAIN);
  printf("%d", sem_timedwait(semaphore, &soon));
  printf(" %d\n", errno == ETIMEDOUT);
  printf("%d", sem_getvalue(same, &value));
  printf(" %d\n", value);
  sem_post(same);
  sem_close(same);
  return unused;
}

static void* wait_for_main(void* unused) {
  printf("waited %d\n", sem_wait(semaphore));
  return unused;
}

static void named(void) {
  snprintf(name, sizeof name, "/terrane-test-%d", (int)getpid());
  semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  if (semaphore == SEM_FAILED) printf("sem_open: %s\n", strerror(errno));
  in_threads(pass);
  printf("%d\n", sem_wait(semaphore));
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_main, NULL);
  usleep(20000);
  sem_post(semaphore);
  pthread_join(thread, NULL);
  printf("%d %d\n", sem_close(semaphore), sem_unlink(name));
  printf("%d %d\n", sem_open(name, 0) == SEM_FAILED, errno == ENOENT);
}

static int queue, set;
static void* use_queue(void* number) {
  struct {
    long kind;
    char text[32];
  } message = {1, "from a thread"};
  printf("send %d\n", msgsnd(queue, &message, sizeof message.text, 0));
  memset(&message, 0, sizeof message);
  printf("receive %d %s\n", (int)msgrcv(queue, &message, sizeof message.text, 2, 0), message.text);
  struct sembuf up = {0, 1, 0};
  printf("semop %d %d\n", semop(set, &up, 1), semctl(set, 0, GETVAL));
  struct msqid_ds status;
  printf("msgctl %d %d\n", msgctl(queue, IPC_STAT, &status), (int)status.msg_qnum);
  return number;
}

static void queues(void) {
  queue = msgget(IPC_PRIVATE, 0600);
  set = semget(IPC_PRIVATE, 1, 0600);
  struct {
    long kind;
    char text[32];
  } message = {2, "from main"};
  for (int i = 0; i < kThreads; ++i) msgsnd(queue, &message, sizeof message.text, 0);
  in_threads(use_queue);
  printf("%d %d\n", (int)msgrcv(queue, &message, sizeof message.text, 1, 0),
         semctl(set, 0, GETVAL));
  printf("%d %d\n", msgctl(queue, IPC_RMID, NULL), semctl(set, 0, IPC_RMID));
}

static volatile sig_atomic_t seen;
static void note(int number) { seen = number; }
static void* close_signals(void* unused) {
  int usr1 = 1 << (SIGUSR1 - 1);
  printf("%d %d\n", sigblock(usr1) == 0, sigblock(0) == usr1);
  raise(SIGUSR1);
  printf("seen %d\n", seen);
  printf("%d\n", sigsetmask(0) == usr1);
  printf("seen %d\n", seen);
  seen = 0;
  sighold(SIGUSR1);
  raise(SIGUSR1);
  printf("held %d\n", seen);
  sigpause(SIGUSR1);
  printf("paused %d\n", seen);
  sigrelse(SIGUSR1);
  seen = 0;
  return unused;
}

static void masks(void) {
  signal(SIGUSR1, note);
  in_threads(close_signals);
}

static void* look(void* unused) {
  printf("%d %d\n", getpgrp() == getpid(), getpgid(0) == getpid());
  errno = 0;
  printf("%d %d\n", getpriority(PRIO_PROCESS, (id_t)getpid()), errno);
  return unused;
}
static void* lead(void* unused) {
  printf("setpgid %d\n", setpgid(0, 0));
  return unused;
}

static void numbers_of_process(void) {
  in_threads(lead);
  look(NULL);
  in_threads(look);
}

static wctype_t alpha;
static wctrans_t upper;
static void* classify(void* unused) {
  printf("%d %d %x\n", iswctype(L'\u00e9', alpha) != 0, iswctype(L'1', alpha) != 0,
         (unsigned)towctrans(L'\u00e9', upper));
  printf("%d\n", wctype("alpha") == alpha && wctype("none") == 0 && wctrans("toupper") == upper);
  return unused;
}

static void classes(void) {
  setlocale(LC_ALL, "C.UTF-8");
  alpha = wctype("alpha");
  upper = wctrans("toupper");
  in_threads(classify);
}

static void* ask_for_memory(void* unused) {
  printf("%d", sbrk(4096) == (void*)-1 && errno == ENOMEM);
  printf(" %d", sbrk(0) != (void*)-1);
  printf(" %d", brk((char*)sbrk(0) + 4096) == -1 && errno == ENOMEM);
  printf(" %d", shmat(0, NULL, 0) == (void*)-1 && errno == ENOMEM);
  printf(" %d", personality(0xffffffff) >= 0);
  printf(" %d", personality(PER_LINUX32) == -1 && errno == EPERM);
  printf(" %d", pkey_alloc(0, 0) == -1 && errno == ENOSPC);
  printf(" %d\n", _Fork() == -1 && errno == ENOSYS);
  return unused;
}

static void refused(void) { in_threads(ask_for_memory); }

int main(int count, char** arguments) {
  const char* mode = count > 1 ? arguments[1] : "";
  if (strcmp(mode, "numbers") == 0) numbers();
  if (strcmp(mode, "named") == 0) named();
  if (strcmp(mode, "queues") == 0) queues();
  if (strcmp(mode, "masks") == 0) masks();
  if (strcmp(mode, "process") == 0) numbers_of_process();
  if (strcmp(mode, "classes") == 0) classes();
  if (strcmp(mode, "refused") == 0) refused();
  puts("end");
  return 0;
}
