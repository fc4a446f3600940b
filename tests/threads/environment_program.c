// A program that names environ. "good" where all threads find what any of them has set.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char** environ;

static int is(const char* name, const char* value) {
  const char* found = getenv(name);
  if (found != NULL && strcmp(found, value) == 0) return 1;
  printf("%s is %s\n", name, found == NULL ? "not there" : found);
  return 0;
}

static void* work(void* number) {
  char name[32];
  if (!is("OF_MAIN", "before") || getenv("PATH") == NULL || environ == NULL) exit(1);
  snprintf(name, sizeof name, "OF_THREAD_%ld", (long)number);
  setenv(name, "set", 1);
  unsetenv("TO_GO");
  return NULL;
}

int main(void) {
  setenv("OF_MAIN", "before", 1);
  setenv("TO_GO", "set", 1);
  for (long t = 0; t < 6; ++t) {
    pthread_t thread;
    char name[32];
    pthread_create(&thread, NULL, work, (void*)t);
    pthread_join(thread, NULL);
    snprintf(name, sizeof name, "OF_THREAD_%ld", t);
    if (!is(name, "set") || getenv("PATH") == NULL || getenv("TO_GO") != NULL) return 1;
  }
  if (!is("OF_THREAD_0", "set") || environ[0] == NULL) return 1;
  printf("good\n");
  return 0;
}
