// Instructions that the program writes itself, as compilers at run time do, executed by threads of
// all nodes. Prints "good" where all is right.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kThreads = 4, kBytes = 16384 };

typedef int (*Function)(void);

static unsigned char* code;
static int results[kThreads];
static int* block;  // what such instructions have allocated
static pthread_barrier_t meet;

// mov eax, value; ret
static void write_function(unsigned char* at, int32_t value) {
  unsigned char bytes[6] = {0xb8, 0, 0, 0, 0, 0xc3};
  memcpy(bytes + 1, &value, sizeof value);
  memcpy(at, bytes, sizeof bytes);
}

// sub rsp, 8; mov edi, 1000; mov rax, malloc; call rax; add rsp, 8; ret
static void write_allocation(unsigned char* at) {
  unsigned char bytes[] = {0x48, 0x83, 0xec, 8, 0xbf, 0xe8, 3,    0,    0,    0x48, 0xb8, 0, 0,
                           0,    0,    0,    0, 0,    0,    0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3};
  void* (*function)(size_t) = malloc;
  memcpy(bytes + 11, &function, sizeof function);
  memcpy(at, bytes, sizeof bytes);
}

static Function function_at(size_t at) {
  Function function;
  unsigned char* address = code + at;
  memcpy(&function, &address, sizeof function);
  return function;
}

// Each calls what main has written, then each writes one more for the next.
static void* call(void* raw) {
  size_t number = (size_t)raw, own = 4096 * number, next = 4096 * ((number + 1) % kThreads);
  int sum = function_at(own)() + *block;
  pthread_barrier_wait(&meet);
  if (mprotect(code + own, 4096, PROT_READ | PROT_WRITE) != 0) sum += 1000;
  write_function(code + own + 64, 7 * (int)number);
  if (mprotect(code + own, 4096, PROT_READ | PROT_EXEC) != 0) sum += 1000;
  pthread_barrier_wait(&meet);
  results[number] = sum + function_at(next + 64)();
  return NULL;
}

static int run(void) {
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, call, (void*)i);
  int wrong = 0;
  for (size_t i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    int expected = 142 + (int)i + 7 * (int)((i + 1) % kThreads);
    if (results[i] != expected) wrong += printf("%zu: %d\n", i, results[i]);
  }
  return wrong;
}

int main(void) {
  pthread_barrier_init(&meet, NULL, kThreads);
  int wrong = 0;
  for (int writable = 0; writable < 2; ++writable) {
    int rights = PROT_READ | PROT_WRITE | (writable ? PROT_EXEC : 0);
    code = mmap(NULL, kBytes, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) return 1;
    for (int i = 0; i < kThreads; ++i) write_function(code + 4096 * i, 42 + i);
    write_allocation(code + 128);
    if (!writable && mprotect(code, kBytes, PROT_READ | PROT_EXEC) != 0) {
      printf("mprotect: %s\n", strerror(errno));
      return 1;
    }
    void* (*allocate)(void);
    unsigned char* address = code + 128;
    memcpy(&allocate, &address, sizeof allocate);
    block = allocate();
    *block = 100;
    wrong += run();
    free(block);
    munmap(code, kBytes);
  }
  // Memory of before holds data again.
  unsigned char* again =
      mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < kBytes; ++i) wrong += again[i] != 0;
  memset(again, 1, kBytes);
  if (wrong == 0) puts("good");
  return wrong != 0;
}
