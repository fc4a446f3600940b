/* A program in C for pthreads that knows nothing of Terrane; its first argument says what it does.
   Each mode prints "good" at its end, and ends with 0. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 6

static int failures;
static pthread_mutex_t failures_mutex = PTHREAD_MUTEX_INITIALIZER;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: %s is wrong\n", __FILE__, __LINE__, #condition); \
      pthread_mutex_lock(&failures_mutex);                            \
      ++failures;                                                     \
      pthread_mutex_unlock(&failures_mutex);                          \
    }                                                                 \
  } while (0)

/* Some in .data, some in .bss, some that nobody touches. */
static int initialised[1000] = {1, 2, 3, 4, 5};
static long counted[THREADS][512];
static char huge[1 << 30];
static char* strings[THREADS];
static char* kept[THREADS];
static int* pointers[THREADS];
static const char constant[] = "constant";
static long (*function_pointer)(long);
static long total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t processes[THREADS];

static long square(long number) { return number * number; }

static void run(void* (*function)(void*), long count) {
  pthread_t threads[64];
  for (long t = 0; t < count; ++t)
    EXPECT(pthread_create(&threads[t], NULL, function, (void*)t) == 0);
  for (long t = 0; t < count; ++t) {
    void* result = NULL;
    EXPECT(pthread_join(threads[t], &result) == 0);
    EXPECT(result == (void*)(t + 1000));
  }
}

static void* use_globals(void* argument) {
  long self = (long)argument;
  processes[self] = getpid();
  EXPECT(initialised[4] == 5 && initialised[999] == 7);
  EXPECT(function_pointer(9) == 81);
  EXPECT(strcmp(constant, "constant") == 0);
  for (int i = 0; i < 512; ++i) counted[self][i] = self * 1000 + i;
  huge[self * (100 << 20)] = (char)(self + 1);
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    total += self + 1;
    pthread_mutex_unlock(&mutex);
  }
  return (void*)(self + 1000);
}

static pthread_barrier_t barrier;

/* Threads take turns: numbers follow each other as in one process. */
static void* draw(void* argument) {
  long self = (long)argument;
  for (int t = 0; t < THREADS; ++t) {
    if (self == t) {
      counted[t][0] = rand();
      counted[t][1] = lrand48();
      counted[t][2] = random();
      counted[t][3] = (long)(drand48() * 1000000);
    }
    pthread_barrier_wait(&barrier);
  }
  return (void*)(self + 1000);
}

/* The first numbers of the C library after srand(5) and srand48(5), which one thread draws. */
static void randoms(void) {
  struct drand48_data linear;
  struct random_data plain;
  static char words[128];
  memset(&plain, 0, sizeof plain);
  initstate_r(5, words, sizeof words, &plain);
  srand48_r(5, &linear);
  srand(5);
  srand48(5);
  pthread_barrier_init(&barrier, NULL, THREADS);
  run(draw, THREADS);
  for (int t = 0; t < THREADS; ++t) {
    int number = 0;
    long next = 0;
    double part = 0;
    random_r(&plain, &number);
    EXPECT(counted[t][0] == number);
    lrand48_r(&linear, &next);
    EXPECT(counted[t][1] == next);
    random_r(&plain, &number);
    EXPECT(counted[t][2] == number);
    drand48_r(&linear, &part);
    EXPECT(counted[t][3] == (long)(part * 1000000));
  }
}

static void globals(void) {
  initialised[999] = 7;
  function_pointer = square;
  run(use_globals, THREADS);
  EXPECT(total == 100 * (THREADS * (THREADS + 1) / 2));
  int others = 0;
  for (long t = 0; t < THREADS; ++t) {
    EXPECT(counted[t][0] == t * 1000 && counted[t][511] == t * 1000 + 511);
    EXPECT(huge[t * (100 << 20)] == t + 1);
    others += processes[t] != getpid();
  }
  printf("%d threads ran elsewhere\n", others);
}

static void* use_heap(void* argument) {
  long self = (long)argument;
  char text[64];
  snprintf(text, sizeof text, "thread %ld", self);
  strings[self] = strdup(text);
  free(pointers[self]);
  pointers[self] = calloc(1000, sizeof(int));
  for (int i = 0; i < 1000; ++i) pointers[self][i] += (int)self * i;
  pointers[self] = realloc(pointers[self], 200000 * sizeof(int));
  pointers[self][199999] = (int)self;
  for (int i = 0; i < 2000; ++i) free(malloc((size_t)(i * 37 % 5000)));
  kept[self] = calloc(1, 2 << 20);
  kept[self][1 << 20] = (char)self;
  char* printed = NULL;
  EXPECT(asprintf(&printed, "%s!", text) > 0);
  EXPECT(printed[strlen(text)] == '!');
  free(printed);
  return (void*)(self + 1000);
}

static unsigned char* large[THREADS];

static size_t large_bytes(long self, int round) {
  return ((size_t)1 << 20) + 100000 * (size_t)((self + round) % 4);
}

// Each thread frees the large block of the next one, and allocates another, which may be one that
// was freed: by itself, or by a thread of its node.
static void* use_large(void* argument) {
  long self = (long)argument;
  long next = (self + 1) % THREADS;
  for (int round = 0; round < 12; ++round) {
    size_t bytes = large_bytes(self, round);
    large[self] = round % 5 == 4 ? calloc(bytes, 1) : malloc(bytes);
    for (size_t at = 0; at < bytes && round % 5 == 4; at += 4000) EXPECT(large[self][at] == 0);
    memset(large[self], (int)self * 16 + round, bytes);
    pthread_barrier_wait(&barrier);
    unsigned char* block = large[next];
    size_t theirs = large_bytes(next, round);
    for (size_t at = 0; at < theirs; at += 4000) EXPECT(block[at] == next * 16 + round);
    EXPECT(block[theirs - 1] == next * 16 + round);
    free(block);
    pthread_barrier_wait(&barrier);
  }
  return (void*)(self + 1000);
}

static void large_blocks(void) {
  pthread_barrier_init(&barrier, NULL, THREADS);
  run(use_large, THREADS);
  pthread_barrier_destroy(&barrier);
}

static void heap(void) {
  large_blocks();
  for (int t = 0; t < THREADS; ++t) pointers[t] = malloc(3000);
  run(use_heap, THREADS);
  for (int t = 0; t < THREADS; ++t) {
    char text[64];
    snprintf(text, sizeof text, "thread %d", t);
    EXPECT(strcmp(strings[t], text) == 0);
    EXPECT(kept[t][1 << 20] == t && kept[t][0] == 0);
    EXPECT(pointers[t][999] == t * 999 && pointers[t][199999] == t);
    free(strings[t]);
    free(pointers[t]);
  }
  char* folder = getcwd(NULL, 0);
  EXPECT(folder != NULL && folder[0] == '/');
  free(folder);
  void* aligned = NULL;
  EXPECT(posix_memalign(&aligned, 4096, 100) == 0 && (unsigned long)aligned % 4096 == 0);
  free(aligned);
}

static int* mapping;
static const char* mapped_file;

static void* use_mapping(void* argument) {
  long self = (long)argument;
  mapping[self * 1000] += (int)self;
  EXPECT(memcmp(mapped_file, "\177ELF", 4) == 0);
  char* own = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(own != MAP_FAILED && own[9999] == 0);
  own[9999] = 5;
  EXPECT(madvise(own, 10000, MADV_DONTNEED) == 0 && own[9999] == 0);
  own[0] = 6;
  own = mremap(own, 10000, 30000, MREMAP_MAYMOVE);
  EXPECT(own != MAP_FAILED && own[0] == 6 && own[29999] == 0);
  pointers[self] = (int*)own;
  return (void*)(self + 1000);
}

static void mappings(void) {
  mapping = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT(mapping != MAP_FAILED);
  for (int t = 0; t < THREADS; ++t) mapping[t * 1000] = 7;
  int fd = open("/proc/self/exe", O_RDONLY);
  mapped_file = mmap(NULL, 100, PROT_READ, MAP_PRIVATE, fd, 0);
  EXPECT(mapped_file != MAP_FAILED && mprotect((void*)mapped_file, 100, PROT_READ) == 0);
  close(fd);
  run(use_mapping, THREADS);
  for (int t = 0; t < THREADS; ++t) {
    EXPECT(mapping[t * 1000] == 7 + t);
    EXPECT(*(char*)pointers[t] == 6 && munmap(pointers[t], 30000) == 0);
  }
  EXPECT(munmap(mapping, 100000) == 0 && munmap((void*)mapped_file, 100) == 0);
  EXPECT(mmap(NULL, 100, PROT_READ, MAP_PRIVATE, 9999, 0) == MAP_FAILED && errno == EBADF);
}

static void* use_stack(void* argument) {
  long* place = argument;
  long own[1000];
  for (int i = 0; i < 1000; ++i) own[i] = i;
  *place += own[999];
  return (void*)(place[1] + 1000);
}

static void* deep(void* argument) {
  long depth = (long)argument;
  volatile char room[65536];
  room[0] = (char)depth;
  if (depth < 50) deep((void*)(depth + 1));
  return (void*)(long)(room[0] == (char)depth ? 1000 : 0);
}

static void stacks(void) {
  long places[THREADS][2];
  pthread_t threads[THREADS];
  for (long t = 0; t < THREADS; ++t) {
    places[t][0] = t;
    places[t][1] = t;
    EXPECT(pthread_create(&threads[t], NULL, use_stack, places[t]) == 0);
  }
  for (long t = 0; t < THREADS; ++t) {
    void* result = NULL;
    EXPECT(pthread_join(threads[t], &result) == 0 && result == (void*)(t + 1000));
    EXPECT(places[t][0] == t + 999);
  }
  run(deep, 1);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int turn, onces, served;

static void begin_once(void) { ++onces; }

static void* use_objects(void* argument) {
  long self = (long)argument;
  pthread_once(&once, begin_once);
  pthread_mutex_lock(&mutex);
  while (turn != self) pthread_cond_wait(&condition, &mutex);
  ++turn;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  int serial = pthread_barrier_wait(&barrier);
  EXPECT(serial == 0 || serial == PTHREAD_BARRIER_SERIAL_THREAD);
  EXPECT(turn == THREADS && onces == 1);
  for (int i = 0; i < 20; ++i) {
    pthread_rwlock_wrlock(&rwlock);
    ++total;
    pthread_rwlock_unlock(&rwlock);
    pthread_spin_lock(&spin);
    ++served;
    pthread_spin_unlock(&spin);
  }
  sem_post(&semaphore);
  return (void*)(self + 1000);
}

static void objects(void) {
  pthread_barrier_init(&barrier, NULL, THREADS);
  sem_init(&semaphore, 0, 0);
  pthread_spin_init(&spin, 0);
  run(use_objects, THREADS);
  for (int t = 0; t < THREADS; ++t) EXPECT(sem_wait(&semaphore) == 0);
  EXPECT(total == 20 * THREADS && served == 20 * THREADS);
  pthread_barrier_destroy(&barrier);
}

static pthread_key_t key;
static int destroyed;

static void destroy(void* value) {
  EXPECT(value != NULL);
  pthread_mutex_lock(&mutex);
  ++destroyed;
  pthread_mutex_unlock(&mutex);
}

static int cleaned;

static void clean(void* by) {
  pthread_mutex_lock(&mutex);
  cleaned = cleaned * 10 % 1000000 + *(int*)by;
  pthread_mutex_unlock(&mutex);
}

/* The handler that was pushed last runs first, also where the thread ends below. */
static void leave(long self) {
  int first = 1, second = 2, never = 9;
  EXPECT(pthread_getspecific(key) != NULL);
  pthread_cleanup_push(clean, &first);
  pthread_cleanup_push(clean, &never);
  pthread_cleanup_pop(0);
  pthread_cleanup_push(clean, &second);
  pthread_exit((void*)(self + 1000));
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
}

static void* use_key(void* argument) {
  long self = (long)argument;
  EXPECT(pthread_getspecific(key) == NULL);
  EXPECT(pthread_setspecific(key, &initialised[self]) == 0);
  EXPECT(pthread_getspecific(key) == &initialised[self]);
  leave(self);
  return NULL;
}

static void* wait_for_turn(void* argument) {
  pthread_mutex_lock(&mutex);
  while (turn == 0) pthread_cond_wait(&condition, &mutex);
  ++served;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void* itself(void* argument) {
  pthread_t* name = argument;
  *name = pthread_self();
  EXPECT(pthread_join(pthread_self(), NULL) == EDEADLK);
  return NULL;
}

static void lives(void) {
  EXPECT(pthread_key_create(&key, destroy) == 0);
  run(use_key, THREADS);
  EXPECT(destroyed == THREADS);
  cleaned = 0;
  run(use_key, 1);
  EXPECT(cleaned == 21);
  for (int t = 0; t < THREADS; ++t) { /* detached ones */
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    if (t % 2 == 0) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    EXPECT(pthread_create(&thread, &attributes, wait_for_turn, NULL) == 0);
    if (t % 2 != 0) EXPECT(pthread_detach(thread) == 0);
  }
  pthread_mutex_lock(&mutex);
  turn = 1;
  pthread_cond_broadcast(&condition);
  while (served < THREADS) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_t threads[THREADS], names[THREADS];
  for (int t = 0; t < THREADS; ++t)
    EXPECT(pthread_create(&threads[t], NULL, itself, &names[t]) == 0);
  for (int t = 0; t < THREADS; ++t) {
    EXPECT(pthread_join(threads[t], NULL) == 0);
    EXPECT(pthread_equal(threads[t], names[t]));
    EXPECT(!pthread_equal(threads[t], pthread_self()));
  }
}

static void* read_file(void* argument) {
  long self = (long)argument;
  int fd = open("/proc/self/exe", O_RDONLY);
  EXPECT(read(fd, &huge[self * 300000], 200000) > 1000);
  close(fd);
  return (void*)(self + 1000);
}

static void calls(void) {
  run(read_file, THREADS);
  for (int t = 0; t < THREADS; ++t) EXPECT(memcmp(&huge[t * 300000], "\177ELF", 4) == 0);
  EXPECT(system("exit 3") == 3 << 8);
  errno = 0;
  EXPECT(fork() == -1 && errno == ENOSYS);
}

/* While other threads make this node's pages change their protection. */
/* The program names environ, so there is one for all nodes; each node's C library changes it. */
static void* set_variable(void* argument) {
  char name[32];
  sprintf(name, "TERRANE_TEST_%ld", (long)argument);
  EXPECT(setenv(name, "a value", 1) == 0);
  return (void*)((long)argument + 1000);
}

static void* look_at_variables(void* argument) {
  int found = 0;
  for (char** one = environ; *one != NULL; ++one) found += strncmp(*one, "TERRANE_TEST_", 13) == 0;
  EXPECT(found == 2 * THREADS);
  for (int t = 0; t < 2 * THREADS; ++t) {
    char name[32];
    sprintf(name, "TERRANE_TEST_%d", t);
    EXPECT(getenv(name) != NULL && strcmp(getenv(name), "a value") == 0);
  }
  return (void*)((long)argument + 1000);
}

static void variables(void) {
  for (long t = 0; t < 2 * THREADS; ++t) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, set_variable, (void*)t) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
  }
  run(look_at_variables, THREADS);
  look_at_variables(NULL);
  EXPECT(system("test \"$TERRANE_TEST_1\" = 'a value'") == 0);
}

static void* use_children(void* argument) {
  long self = (long)argument;
  for (int i = 0; i < 8; ++i) {
    EXPECT(system("exit 3") == 3 << 8);
    char line[16] = "";
    FILE* said = popen("echo a child", "r");
    EXPECT(said != NULL && fgets(line, sizeof line, said) == line);
    EXPECT(strcmp(line, "a child\n") == 0 && pclose(said) == 0);
    pid_t child = 0;
    int status = 0;
    char* words[] = {"sh", "-c", "exit $CODE", NULL};
    char* variables[] = {"CODE=4", "PATH=/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    EXPECT(posix_spawnp(&child, "sh", &actions, &attributes, words, variables) == 0);
    EXPECT(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
    posix_spawn_file_actions_destroy(&actions);
    EXPECT(posix_spawn(&child, "/nowhere", NULL, NULL, words, variables) == ENOENT);
  }
  pthread_mutex_lock(&mutex);
  ++served;
  pthread_mutex_unlock(&mutex);
  return (void*)(self + 1000);
}

static void* write_much(void* argument) {
  long self = (long)argument;
  int all = 0;
  while (all == 0) {
    pthread_mutex_lock(&mutex);
    all = served == THREADS;
    ++total;
    pthread_mutex_unlock(&mutex);
  }
  return (void*)(self + 1000);
}

static void* child_or_writer(void* argument) {
  long self = (long)argument;
  return self < THREADS ? use_children(argument) : write_much(argument);
}

static FILE* opened;
static int opened_fd;
static int pipe_ends[2];

/* Through the stream and the descriptor that main has opened. */
static void* use_mains(void* argument) {
  long self = (long)argument;
  char line[64] = "";
  pthread_mutex_lock(&mutex);
  EXPECT(fprintf(opened, "line %ld of a thread\n", self) > 0);
  EXPECT(fputs("a string\n", opened) >= 0 && fputc('c', opened) == 'c');
  EXPECT(fwrite("haracters\n", 1, 10, opened) == 10 && fflush(opened) == 0);
  snprintf(line, sizeof line, "thread %ld\n", self);
  EXPECT(write(opened_fd, line, strlen(line)) == (ssize_t)strlen(line));
  static __thread char own[8] = "private";
  EXPECT(write(opened_fd, own, 8) == 8);
  pthread_mutex_unlock(&mutex);
  errno = 0;
  EXPECT(close(900) == -1 && errno == EBADF);
  EXPECT(read(opened_fd, line, 0) == -1 && errno == EBADF); /* it is open for writing alone */
  return (void*)(self + 1000);
}

static void* read_mains(void* argument) {
  char line[64] = "", text[8] = "";
  long number = -1;
  EXPECT(fgets(line, sizeof line, opened) == line && strncmp(line, "line ", 5) == 0);
  EXPECT(fscanf(opened, "a %7s", text) == 1 && strcmp(text, "string") == 0);
  EXPECT(fgetc(opened) == '\n' && ungetc('x', opened) == 'x' && getc(opened) == 'x');
  EXPECT(fseek(opened, 5, SEEK_SET) == 0 && ftell(opened) == 5);
  EXPECT(fscanf(opened, "%ld", &number) == 1 && number >= 0 && number < THREADS);
  char* got = NULL;
  size_t room = 0;
  EXPECT(getline(&got, &room, opened) > 0 && strcmp(got, " of a thread\n") == 0);
  free(got);
  EXPECT(fseek(opened, 0, SEEK_END) == 0 && getc(opened) == EOF && feof(opened) != 0);
  clearerr(opened);
  EXPECT(feof(opened) == 0 && ferror(opened) == 0 && fileno(opened) > 2);
  return (void*)((long)argument + 1000);
}

/* A pipe whose other end main has: reading waits, and others write in the meantime. */
static void* read_pipe(void* argument) {
  char got[4] = "";
  EXPECT(read(pipe_ends[0], got, 4) == 4 && memcmp(got, "word", 4) == 0);
  return (void*)((long)argument + 1000);
}

static void* open_own(void* argument) {
  long self = (long)argument;
  int* fd = &initialised[500 + self];
  *fd = open("/proc/self/exe", O_RDONLY);
  char got[4] = "";
  EXPECT(*fd > 2 && read(*fd, got, 4) == 4 && memcmp(got, "\177ELF", 4) == 0);
  FILE* file = tmpfile();
  EXPECT(file != NULL && fprintf(file, "line of %ld\n", self) > 0);
  rewind(file);
  char line[64] = "";
  EXPECT(fgets(line, sizeof line, file) == line && strncmp(line, "line of", 7) == 0);
  EXPECT(dup2(open("/dev/null", O_RDONLY), fileno(file)) == fileno(file));
  EXPECT(fclose(file) == 0);
  return (void*)(self + 1000);
}

static void files(void) {
  char name[] = "terrane_files_XXXXXX";
  opened_fd = mkstemp(name);
  EXPECT(opened_fd > 2);
  close(opened_fd);
  opened_fd = open(name, O_WRONLY | O_APPEND);
  opened = tmpfile();
  run(use_mains, THREADS);
  EXPECT(lseek(opened_fd, 0, SEEK_END) == THREADS * (9 + 8));
  EXPECT(ftell(opened) == THREADS * (19 + 9 + 11));
  rewind(opened);
  char line[64] = "";
  for (int t = 0; t < THREADS; ++t) {
    long number = -1;
    EXPECT(fgets(line, sizeof line, opened) == line && sscanf(line, "line %ld", &number) == 1);
    EXPECT(number >= 0 && number < THREADS && initialised[100 + number]++ == 0);
    EXPECT(fgets(line, sizeof line, opened) == line && strcmp(line, "a string\n") == 0);
    EXPECT(fgets(line, sizeof line, opened) == line && strcmp(line, "characters\n") == 0);
  }
  for (int t = 0; t < THREADS; ++t) {
    rewind(opened);
    run(read_mains, 1);
  }
  EXPECT(pipe(pipe_ends) == 0);
  pthread_t readers[2];
  for (long t = 0; t < 2; ++t) EXPECT(pthread_create(&readers[t], NULL, read_pipe, (void*)t) == 0);
  EXPECT(write(pipe_ends[1], "wordword", 8) == 8);
  for (int t = 0; t < 2; ++t) EXPECT(pthread_join(readers[t], NULL) == 0);
  run(open_own, THREADS); /* and main reads on through theirs */
  for (int t = 0; t < THREADS; ++t) {
    char got[2] = "";
    int fd = initialised[500 + t];
    EXPECT(read(fd, got, 1) == 1 && got[0] == 2); /* the class of the file: 64 bits */
    EXPECT(close(fd) == 0 && close(fd) == -1);
  }
  unlink(name);
}

static void* read_input(void* argument) {
  char line[64] = "";
  int number = 0;
  EXPECT(fgets(line, sizeof line, stdin) == line);
  EXPECT(scanf("%d", &number) == 1);
  printf("got %s%d\n", line, number);
  return argument;
}

static void* print_there(void* argument) {
  printf("a line of a thread\n");
  return argument;
}

/* Standard input is main's; standard output goes where main has directed it. */
static void input(void) {
  pthread_t thread;
  for (int t = 0; t < 2; ++t) {
    pthread_create(&thread, NULL, read_input, NULL);
    pthread_join(thread, NULL);
  }
  fflush(stdout);
  int before = dup(1);
  FILE* into = tmpfile();
  dup2(fileno(into), 1);
  for (int t = 0; t < 2; ++t) {
    pthread_create(&thread, NULL, print_there, NULL);
    pthread_join(thread, NULL);
  }
  fflush(stdout);
  dup2(before, 1);
  EXPECT(lseek(fileno(into), 0, SEEK_END) == 2 * 19);
}

static void* say(void* argument) {
  long self = (long)argument;
  printf("thread %ld says this\n", self);
  return (void*)(self + 1000);
}

static void at_exit(void) {
  printf("the handler runs in %s\n", getpid() == processes[0] ? "main's process" : "another");
}

static void* exit_here(void* argument) {
  long self = (long)argument;
  if (self == THREADS - 1) {
    printf("thread %ld exits\n", self);
    exit(7);
  }
  pause();
  return NULL;
}

static void* ask_too_much(void* argument) {
  errno = 0;
  EXPECT(malloc((size_t)1 << 55) == NULL && errno == ENOMEM);
  EXPECT(calloc((size_t)1 << 50, 2) == NULL && errno == ENOMEM);
  return (void*)((long)argument + 1000);
}

static __thread long own_variable;

static void* show_own(void* argument) {
  own_variable = 5;
  pthread_mutex_lock(&mutex);
  pointers[0] = (int*)&own_variable;
  pthread_cond_broadcast(&condition);
  while (turn == 0) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return argument;
}

/* Good on one machine: the thread lives while another reads its variable. */
static void read_others(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, show_own, NULL);
  pthread_mutex_lock(&mutex);
  while (pointers[0] == NULL) pthread_cond_wait(&condition, &mutex);
  EXPECT(*(long*)pointers[0] == 5);
  turn = 1;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
}

static void* overflow(void* argument) {
  volatile char room[4096];
  room[0] = 1;
  overflow((void*)room);
  return (void*)(long)room[0];
}

static void* sleep_long(void* argument) {
  sleep(1000);
  return argument;
}

static void too_many(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  int error = 0, made = 0;
  while (error == 0 && made < 5000) {
    pthread_t thread;
    error = pthread_create(&thread, &attributes, sleep_long, NULL);
    ++made;
  }
  EXPECT(error == EAGAIN);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  processes[0] = getpid();
  if (strcmp(mode, "globals") == 0) globals();
  if (strcmp(mode, "heap") == 0) heap();
  if (strcmp(mode, "randoms") == 0) randoms();
  if (strcmp(mode, "mappings") == 0) mappings();
  if (strcmp(mode, "stacks") == 0) stacks();
  if (strcmp(mode, "objects") == 0) objects();
  if (strcmp(mode, "lives") == 0) lives();
  if (strcmp(mode, "calls") == 0) calls();
  if (strcmp(mode, "children") == 0) run(child_or_writer, 2 * THREADS);
  if (strcmp(mode, "variables") == 0) variables();
  if (strcmp(mode, "files") == 0) files();
  if (strcmp(mode, "input") == 0) input();
  if (strcmp(mode, "output") == 0) run(say, THREADS);
  if (strcmp(mode, "many") == 0) too_many();
  if (strcmp(mode, "thread_local") == 0) read_others();
  if (strcmp(mode, "beyond") == 0) run(ask_too_much, 2);
  if (strcmp(mode, "overflow") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, overflow, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(mode, "code") == 0) return 5;
  if (strcmp(mode, "exit") == 0) {
    atexit(at_exit);
    run(exit_here, THREADS);
  }
  if (strcmp(mode, "exit_main") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, say, NULL);
    pthread_create(&thread, NULL, say, (void*)1);
    printf("good\n");
    pthread_exit(NULL);
  }
  if (failures == 0) printf("good\n");
  return failures == 0 ? 0 : 1;
}
