// What the C library would do in threads of its own, aio and getaddrinfo_a, on memory that another
// node has just written; its end is told by nothing, a signal or a function in a thread.
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 17, kThreads = 3 };

static const char* wrong;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int functions;
static volatile sig_atomic_t signals;
static char name[] = "/tmp/terrane-async-XXXXXX";
static char* bytes;  // that one thread writes, and another one hands to the kernel
static char* copy;

static void expect(int holds, const char* what) {
  if (!holds && wrong == NULL) wrong = what;
}

static void count_signal(int number) {
  (void)number;
  ++signals;
}

static void count_function(union sigval value) {
  pthread_mutex_lock(&mutex);
  functions += value.sival_int;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static struct sigevent told_by(int how) {
  struct sigevent event = {.sigev_notify = how, .sigev_value.sival_int = 1};
  if (how == SIGEV_SIGNAL) event.sigev_signo = SIGUSR1;
  if (how == SIGEV_THREAD) event.sigev_notify_function = count_function;
  return event;
}

static void finish(struct aiocb* block, const char* what) {
  const struct aiocb* list[] = {block};
  while (aio_error(block) == EINPROGRESS) aio_suspend(list, 1, NULL);
  expect(aio_error(block) == 0 && aio_return(block) == kBytes, what);
}

static void* write_and_read(void* raw) {
  int how = *(int*)raw, fd = open(name, O_RDWR);
  struct aiocb out = {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = kBytes};
  struct aiocb in = {.aio_fildes = fd, .aio_buf = copy, .aio_nbytes = kBytes};
  in.aio_lio_opcode = LIO_READ;
  out.aio_sigevent = told_by(how);
  in.aio_sigevent = told_by(SIGEV_NONE);
  expect(aio_write(&out) == 0, "aio_write");
  finish(&out, "what aio_write has written");
  expect(aio_fsync(O_SYNC, &out) == 0, "aio_fsync");
  while (aio_error(&out) == EINPROGRESS) usleep(100);
  struct aiocb* list[] = {&in, NULL};
  struct sigevent event = told_by(how);
  expect(lio_listio(LIO_NOWAIT, list, 2, &event) == 0, "lio_listio");
  finish(&in, "what lio_listio has read");
  in.aio_fildes = -1;
  expect(aio_read(&in) == 0, "aio_read");
  while (aio_error(&in) == EINPROGRESS) usleep(100);
  expect(aio_error(&in) == EBADF, "no descriptor");
  close(fd);
  return NULL;
}

static void* find(void* raw) {
  struct addrinfo wanted = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
  struct gaicb* request = calloc(1, sizeof *request);
  struct sigevent event = told_by(*(int*)raw);
  struct gaicb* list[] = {request};
  request->ar_name = "127.0.0.1";
  request->ar_service = "80";
  request->ar_request = &wanted;
  expect(getaddrinfo_a(GAI_NOWAIT, list, 1, &event) == 0, "getaddrinfo_a");
  while (gai_error(request) == EAI_INPROGRESS)
    gai_suspend((const struct gaicb* const*)list, 1, NULL);
  expect(gai_error(request) == 0 && request->ar_result->ai_family == AF_INET, "gai_error");
  return request;
}

static void in_thread(void* (*function)(void*), int how) {
  pthread_t thread;
  void* found = NULL;
  pthread_create(&thread, NULL, function, &how);
  pthread_join(thread, &found);
  if (found == NULL) return;
  freeaddrinfo(((struct gaicb*)found)->ar_result);
  free(found);
}

int main(void) {
  const int kHow[kThreads] = {SIGEV_NONE, SIGEV_SIGNAL, SIGEV_THREAD};
  close(mkstemp(name));
  signal(SIGUSR1, count_signal);
  bytes = malloc(kBytes);
  for (int i = 0; i < kThreads; ++i) {
    copy = malloc(kBytes);
    memset(bytes, 'a' + i, kBytes);
    in_thread(write_and_read, kHow[i]);
    expect(memcmp(bytes, copy, kBytes) == 0, "other bytes");
    free(copy);
    in_thread(find, kHow[i]);
  }
  // Of aio_write, aio_fsync, lio_listio and getaddrinfo_a.
  while (signals < 1) usleep(1000);  // equal ones may become one
  pthread_mutex_lock(&mutex);
  while (functions < 4) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  unlink(name);
  puts(wrong == NULL ? "good" : wrong);
  return wrong != NULL;
}
