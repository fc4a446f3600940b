/* A program with an allocator of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char memory[1 << 24];
static size_t used;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void* malloc(size_t bytes) {
  pthread_mutex_lock(&mutex);
  void* block = used + bytes < sizeof memory ? &memory[used] : NULL;
  used += (bytes + 15) / 16 * 16;
  pthread_mutex_unlock(&mutex);
  return block;
}

void free(void* block) { (void)block; }

int main(void) {
  int* block = malloc(sizeof *block);
  *block = 5;
  printf("good %d\n", *block);
  free(block);
  return 0;
}
