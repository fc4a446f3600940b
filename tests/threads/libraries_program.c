// Libraries of a program: linked, or opened while it runs. "good" where every thread sees the same.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define EXPECT(what)                                    \
  do {                                                  \
    if (!(what)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                          \
    }                                                   \
  } while (0)

struct state;
struct state* make_state(const char* text);
long use_state(struct state* state);
long states_made(void);

static pthread_barrier_t barrier;
static struct state* state;
static void* library;
static void* (*opened_thread)(void*);
static int* memory;

static void* use_linked(void* argument) {
  EXPECT(use_state(state) > 0);
  EXPECT(use_state(make_state("of a thread")) == 1);
  return argument;
}

static void linked(void) {
  pthread_t threads[THREADS];
  state = make_state("of main");
  for (int t = 0; t < THREADS; ++t) {
    pthread_create(&threads[t], NULL, use_linked, NULL);
    pthread_join(threads[t], NULL);
  }
  EXPECT(states_made() == 1 + THREADS);
}

static void* find(const char* name) {
  void* found = dlsym(library, name);
  EXPECT(found != NULL);
  return found;
}

static void open_library(const char* path) {
  library = dlopen(path, RTLD_LAZY);
  if (library == NULL) printf("%s\n", dlerror());
  EXPECT(library != NULL);
  *(void**)&opened_thread = find("opened_thread");
}

static void* use_later(void* number) {
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  int* (*opened_memory)(void);
  *(void**)&opened_memory = find("opened_memory");
  memory = opened_memory();
  *memory = 5;
  return opened_thread(number);
}

static void* open_elsewhere(void* path) {
  open_library(path);
  return NULL;
}

// Opens it here, or in a thread; uses it in threads that are new, or were there before.
static void opened(const char* path, int in_thread) {
  pthread_t early, thread, threads[THREADS];
  void* result;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&early, NULL, use_later, (void*)10);
  pthread_barrier_wait(&barrier);
  pthread_create(&thread, NULL, open_elsewhere, (void*)path);
  pthread_join(thread, NULL);
  if (!in_thread) open_library(path);
  pthread_barrier_wait(&barrier);
  pthread_join(early, &result);
  long* table = find("table");
  EXPECT(result == table + 2 && *memory == 5);
  for (long t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, opened_thread, (void*)t);
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], &result);
    EXPECT(result == table + 2);
  }
  long (*opened_sum)(void);
  *(void**)&opened_sum = find("opened_sum");
  EXPECT(opened_sum() == 100 + 10 + 0 + 1 + 2 + 3 + THREADS + 1);
  EXPECT(table[10] == 1 && table[0] == 2 && table[2] == 4);
  long (*add_to_total)(long);
  *(void**)&add_to_total = find("add_to_total");
  EXPECT(add_to_total(0) == 1000 + 10 + 6);
  free(memory);
  EXPECT(dlclose(library) == 0);
}

// A library whose constructor starts threads and opens another library.
static void constructed(const char* path, int in_thread) {
  pthread_t thread;
  if (in_thread) {
    pthread_create(&thread, NULL, open_elsewhere, (void*)path);
    pthread_join(thread, NULL);
  }
  open_library(path);
  EXPECT(opened_thread(NULL) != NULL);
  for (int t = 0; t < THREADS; ++t) {
    void* result;
    pthread_create(&thread, NULL, opened_thread, NULL);
    pthread_join(thread, &result);
    EXPECT(result != NULL);
  }
}

// What has been mapped of a library that cannot be loaded is no place that others lose.
static void unresolved(const char* path, const char* good) {
  for (int i = 0; i < 3; ++i) {
    EXPECT(dlopen(path, RTLD_LAZY) == NULL);
    const char* error = dlerror();
    EXPECT(error != NULL && strstr(error, "is_defined_nowhere") != NULL);
  }
  opened(good, 1);
}

static void missing(void) {
  EXPECT(dlopen("libterrane-is-not-there.so", RTLD_NOW) == NULL);
  const char* error = dlerror();
  EXPECT(error != NULL && strstr(error, "libterrane-is-not-there.so") != NULL);
  EXPECT(dlerror() == NULL);
  void* self = dlopen(NULL, RTLD_NOW);
  EXPECT(self != NULL && dlsym(self, "make_state") != NULL);
  EXPECT(dlsym(self, "no_such_function") == NULL && dlerror() != NULL);
  EXPECT(dlsym(RTLD_DEFAULT, "make_state") != NULL);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "linked") == 0) linked();
  if (strcmp(mode, "opened") == 0) opened(argv[2], 0);
  if (strcmp(mode, "opened_in_thread") == 0) opened(argv[2], 1);
  if (strcmp(mode, "missing") == 0) missing();
  if (strcmp(mode, "unresolved") == 0) unresolved(argv[2], argv[3]);
  if (strcmp(mode, "constructed") == 0) constructed(argv[2], 0);
  if (strcmp(mode, "constructed_in_thread") == 0) constructed(argv[2], 1);
  printf("good\n");
  return 0;
}
