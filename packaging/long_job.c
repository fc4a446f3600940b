// A program for threads that is in the middle of its work while packages change (try_deb.sh).
// Usage: long_job STARTED GO: makes the file STARTED, and waits for the file GO.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 4, kRounds = 1000, kMostLooks = 6000 };  // ten minutes

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void add(void) {
  for (int i = 0; i < kRounds; i++) {
    pthread_mutex_lock(&mutex);
    sum++;
    pthread_mutex_unlock(&mutex);
  }
}

static void* work(void* go) {
  add();
  for (int i = 0; i < kMostLooks && access(go, F_OK) != 0; i++) usleep(100000);
  add();
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, argv[2]);
  FILE* started = fopen(argv[1], "w");
  if (started == NULL) return 2;
  fclose(started);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  int status = system("exit 3");
  printf("sum %ld, child %d\n", sum, WEXITSTATUS(status));
  return 0;
}
