// A program without atomics, linked with library_locked.c.
#include <stdio.h>

int count_up(void);

int main(void) {
  printf("%s\n", count_up() == 1 ? "good" : "bad");
  return 0;
}
