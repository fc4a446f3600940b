// A program that is not position-independent and takes the addresses of functions of the C library.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;
static void* (*volatile make)(size_t) = malloc;
static void (*volatile drop)(void*) = free;

static void* work(void* given) {
  int* number = given;
  *number = 42;
  pthread_setspecific(key, make(8));
  return NULL;
}

int main(void) {
  int (*volatile create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      pthread_create;
  pthread_t thread;
  int* number = make(sizeof *number);
  pthread_key_create(&key, free);
  create(&thread, NULL, work, number);
  pthread_join(thread, NULL);
  printf("%s\n", *number == 42 ? "good" : "bad");
  drop(number);
  return 0;
}
