// Rights to shared memory, and calls about parts of it. "good" where each does what it says.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPECT(what)                                    \
  do {                                                  \
    if (!(what)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                          \
    }                                                   \
  } while (0)

enum { BYTES = 65536, PAGE = 4096 };
static char* memory;
static const char* mapped;
static sigjmp_buf back;

static void on_fault(int number) { siglongjmp(back, number); }

// Whether a store to the byte is forbidden.
static int store_fails(char* at) {
  struct sigaction action = {.sa_handler = on_fault}, before;
  sigaction(SIGSEGV, &action, &before);
  int failed = sigsetjmp(back, 1);
  if (failed == 0) *(volatile char*)at = 7;
  sigaction(SIGSEGV, &before, NULL);
  return failed != 0;
}

static void* with_thread(void* (*function)(void*)) {
  pthread_t thread;
  void* result;
  pthread_create(&thread, NULL, function, NULL);
  pthread_join(thread, &result);
  return result;
}

static char* map(void) {
  char* at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(at != MAP_FAILED);
  return at;
}

// On a kernel without userfaultfd the call fails, and says so.
static void* forbid(void* argument) {
  memory = map();
  memset(memory, 3, BYTES);
  int failed = mprotect(memory, PAGE, PROT_READ);
  if (failed) {
    EXPECT(errno == EACCES && !store_fails(memory));
    return argument;
  }
  EXPECT(memory[0] == 3 && store_fails(memory) && memory[0] == 3 && !store_fails(memory + PAGE));
  EXPECT(mprotect(memory, PAGE, PROT_NONE) == 0 && store_fails(memory));
  EXPECT(mprotect(memory, PAGE, PROT_READ | PROT_WRITE) == 0 && !store_fails(memory));
  EXPECT(memory[0] == 7 && memory[1] == 3);
  EXPECT(mprotect(memory, PAGE, PROT_READ) == 0);
  return argument;
}

static void* unmap(void* argument) {
  EXPECT(munmap(memory, BYTES) == 0);
  return argument;
}

static void rights(void) {
  with_thread(forbid);
  with_thread(unmap);
  for (int i = 0; i < 8; ++i) {  // memory of before has no rights of before
    char* again = map();
    memset(again, 1, BYTES);
  }
  EXPECT(mprotect(map(), PAGE, PROT_READ | PROT_EXEC) == 0 || errno == EACCES);
}

static void* drop(void* argument) {
  EXPECT(madvise(memory, PAGE, MADV_DONTNEED) == 0 && memory[0] == 0 && memory[PAGE] == 3);
  EXPECT(madvise(memory + PAGE, PAGE, MADV_REMOVE) == 0 && memory[PAGE] == 0);
  EXPECT(madvise((void*)mapped, PAGE, MADV_DONTNEED) == 0 && memcmp(mapped, "\177ELF", 4) == 0);
  EXPECT(mremap(memory, BYTES, 2 * BYTES, 0) == MAP_FAILED && errno == ENOMEM);
  EXPECT(munmap(memory + PAGE, PAGE) == 0);
  return argument;
}

// What a thread reads of a file that main has mapped to be shared, for reading.
static void parts(void) {
  int fd = open("/proc/self/exe", O_RDONLY);
  mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  EXPECT(mapped != MAP_FAILED);
  memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memset(memory, 3, BYTES);
  with_thread(drop);
  EXPECT(memory[0] == 0 && memory[PAGE] == 0 && memory[2 * PAGE] == 3);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "rights") == 0) rights();
  if (argc > 1 && strcmp(argv[1], "parts") == 0) parts();
  printf("good\n");
  return 0;
}
