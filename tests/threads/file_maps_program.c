// A file that main maps, and threads of all nodes read and write. The pattern of its words tells
// their places. Prints "good" where all is right.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kThreads = 4 };

static const char* path;
static size_t bytes;
static uint64_t* data;
static size_t wrong[kThreads];
static pthread_barrier_t meet;

static uint64_t word(size_t i) { return i * 0x9e3779b97f4a7c15u + 1; }

static size_t differ(const uint64_t* words, size_t from, size_t to, uint64_t more) {
  size_t found = 0;
  for (size_t i = from; i < to; ++i) found += words[i] != word(i) + more;
  return found;
}

static int fail(const char* what) {
  printf("%s: %s\n", what, strerror(errno));
  return 1;
}

static void run(void* (*body)(void*)) {
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, body, (void*)i);
  for (size_t i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

static void* read_all(void* number) {
  wrong[(size_t)number] = differ(data, 0, bytes / 8, 0);
  return NULL;
}

// Each thread maps the file itself, by a descriptor that main has opened.
static int fd;
static void* map_it(void* number) {
  uint64_t* own = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  wrong[(size_t)number] = own == MAP_FAILED || differ(own, 0, bytes / 8, 0) != 0;
  if (own != MAP_FAILED && munmap(own, bytes) != 0) wrong[(size_t)number] = 1;
  return NULL;
}

// Each thread stores to words that lie in all pages, then reads those of all.
static void* write_all(void* number) {
  for (size_t i = (size_t)number; i < bytes / 8; i += kThreads) data[i] += 7;
  pthread_barrier_wait(&meet);
  wrong[(size_t)number] = differ(data, 0, bytes / 8, 7);
  return NULL;
}

static size_t sum(void) {
  size_t all = 0;
  for (size_t i = 0; i < kThreads; ++i) all += wrong[i];
  return all;
}

static int make(void) {
  fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  uint64_t* part = malloc(1 << 20);
  for (size_t at = 0; at < bytes; at += 1 << 20) {
    for (size_t i = 0; i < (1 << 17); ++i) part[i] = word(at / 8 + i);
    if (write(fd, part, 1 << 20) != 1 << 20) return fail("write");
  }
  free(part);
  return 0;
}

static int reads(void) {
  close(fd);
  fd = open(path, O_RDONLY);
  data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return fail("mmap");
  run(read_all);
  if (sum() != 0) return printf("%zu wrong words\n", sum());
  run(map_it);
  if (sum() != 0) return printf("%zu threads cannot map it\n", sum());
  return 0;
}

static int parts(void) {
  int result = reads();
  if (result != 0) return result;
  // The second half goes, the first one moves to where all of it fits again.
  if (munmap((char*)data + bytes / 2, bytes / 2) != 0) return fail("munmap");
  data = mremap(data, bytes / 2, bytes, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) return fail("mremap");
  close(fd);
  run(read_all);
  if (sum() != 0) return printf("%zu wrong words after mremap\n", sum());
  if (mprotect(data, bytes, PROT_READ | PROT_WRITE) == 0) data[0] = 0;  // refused between nodes
  return munmap(data, bytes) != 0 ? fail("munmap") : 0;
}

static int writes(void) {
  data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return fail("mmap");
  run(write_all);
  if (sum() != 0) return printf("%zu wrong words\n", sum());
  if (msync(data, bytes, MS_SYNC) != 0) return fail("msync");
  uint64_t last = 0;
  if (pread(fd, &last, 8, (off_t)bytes - 8) != 8 || last != word(bytes / 8 - 1) + 7)
    return fail("pread");
  return munmap(data, bytes) != 0 ? fail("munmap") : 0;
}

// A private mapping: what threads store is the program's, and does not reach the file.
static int copies(void) {
  data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return fail("mmap");
  run(read_all);
  if (sum() != 0) return printf("%zu wrong words\n", sum());
  run(write_all);
  if (sum() != 0) return printf("%zu wrong words after stores\n", sum());
  uint64_t first = 0;
  if (pread(fd, &first, 8, 0) != 8 || first != word(0)) return fail("pread");
  return munmap(data, bytes) != 0 ? fail("munmap") : 0;
}

// What lies behind the new end of the file is not to be read.
static void* read_last(void* number) {
  wrong[(size_t)number] = ((volatile uint64_t*)data)[bytes / 8 - 1] != 0;
  return NULL;
}

static int truncated(void) {
  data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED || ftruncate(fd, 4096) != 0) return fail("ftruncate");
  unlink(path);
  run(read_last);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  path = argv[2];
  bytes = strtoul(argv[3], NULL, 10) << 20;
  pthread_barrier_init(&meet, NULL, kThreads);
  int result = make();
  if (result == 0 && strcmp(argv[1], "reads") == 0) result = reads();
  if (result == 0 && strcmp(argv[1], "parts") == 0) result = parts();
  if (result == 0 && strcmp(argv[1], "writes") == 0) result = writes();
  if (result == 0 && strcmp(argv[1], "unnamed") == 0) {
    unlink(path);
    result = writes();
  }
  if (result == 0 && strcmp(argv[1], "copies") == 0) result = copies();
  if (result == 0 && strcmp(argv[1], "truncated") == 0) result = truncated();
  unlink(path);
  if (result == 0) puts("good");
  return result != 0;
}
