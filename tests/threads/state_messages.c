// A program that waits for a message of a queue is told by a signal, or by a function in a thread
// (SIGEV_THREAD), which has the program's memory: threads of any node ask for it.
#define _GNU_SOURCE
#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 10 };

static const char* wrong;
static mqd_t queue;
static sem_t has_come;
static int calls, value_of_call;
static char* text;
static volatile sig_atomic_t value_of_signal, code_of_signal;

static void expect(int holds, const char* what) {
  if (!holds && wrong == NULL) wrong = what;
}

static void await(void) {
  while (sem_wait(&has_come) != 0) continue;
}

static void on_message(union sigval value) {
  free(text);
  text = malloc(32);
  snprintf(text, 32, "call %d", ++calls);
  value_of_call = value.sival_int;
  sem_post(&has_come);
}

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  value_of_signal = info->si_value.sival_int;
  code_of_signal = info->si_code;
  sem_post(&has_come);
}

static int ask(int value) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_message};
  event.sigev_value.sival_int = value;
  return mq_notify(queue, &event);
}

static void take(void) {
  char got[16];
  expect(mq_receive(queue, got, sizeof got, NULL) == 4, "mq_receive");
}

// Each call is for one message that comes to the empty queue.
static void ask_and_send(int value) {
  int before = calls;
  expect(ask(value) == 0, "mq_notify");
  expect(ask(value) == -1 && errno == EBUSY, "a second one waits");
  expect(mq_send(queue, "abc", 4, 0) == 0, "mq_send");
  await();
  expect(calls == before + 1 && value_of_call == value, "the function's call");
  expect(mq_send(queue, "def", 4, 0) == 0, "mq_send of a second message");
  take();
  take();
}

static void stop_asking(void) {
  int before = calls;
  expect(ask(1) == 0, "mq_notify, to be taken back");
  expect(mq_notify(queue, NULL) == 0, "mq_notify takes it back");
  expect(mq_send(queue, "abc", 4, 0) == 0, "mq_send, of which nobody is told");
  take();
  ask_and_send(2);
  expect(calls == before + 1, "what was taken back is not told");
}

static void ask_for_a_signal(int value) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  event.sigev_value.sival_int = value;
  expect(mq_notify(queue, &event) == 0, "mq_notify for a signal");
  expect(mq_send(queue, "abc", 4, 0) == 0, "mq_send that sends a signal");
  await();
  expect(value_of_signal == value && code_of_signal == SI_MESGQ, "the signal");
  take();
}

static void* use(void* first) {
  for (int i = 0; i < kRounds; ++i) ask_and_send((int)(long)first + i);
  stop_asking();
  ask_for_a_signal((int)(long)first + kRounds);
  return NULL;
}

static void use_in_thread(long first) {
  pthread_t thread;
  pthread_create(&thread, NULL, use, (void*)first);
  pthread_join(thread, NULL);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  struct mq_attr shape = {.mq_maxmsg = 4, .mq_msgsize = 16};
  char name[32];
  snprintf(name, sizeof name, "/terrane-messages-%d", (int)getpid());
  sem_init(&has_come, 0, 0);
  sigaction(SIGUSR1, &action, NULL);
  queue = mq_open(name, O_CREAT | O_RDWR, 0600, &shape);
  if (queue == -1 && (errno == ENOSYS || errno == EACCES)) {  // there are no queues here
    puts("good");
    return 0;
  }
  mq_unlink(name);
  use((void*)100);
  for (long i = 2; i < 5; ++i) use_in_thread(100 * i);
  expect(text != NULL && strncmp(text, "call ", 5) == 0, "the function's memory");
  expect(mq_close(queue) == 0, "mq_close");
  expect(ask(0) == -1 && errno == EBADF, "mq_notify of nothing");
  puts(wrong == NULL ? "good" : wrong);
  return wrong != NULL;
}
