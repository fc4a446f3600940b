/* Every node adds to one shared counter; node 0 checks the sum.
 * Usage: terrane run -n 4 counter [TIMES] */
#include <stdio.h>
#include <stdlib.h>
#include <terrane/pages.h>

int main(int argc, char** argv) {
  const long times = argc > 1 ? atol(argv[1]) : 1000;

  if (terrane_init() != TERRANE_OK) {
    fprintf(stderr, "counter: %s\n", terrane_error());
    return 1;
  }
  /* Zeroed, and at the same address on every node. */
  long* counter = terrane_alloc_all(sizeof *counter, NULL);
  if (counter == NULL) {
    fprintf(stderr, "counter: %s\n", terrane_error());
    return 1;
  }
  for (long i = 0; i < times; i++) {
    terrane_lock(1);
    *counter += 1;
    terrane_unlock(1);
  }
  terrane_barrier();

  const long expected = times * terrane_nodes();
  const int wrong = *counter != expected;
  if (terrane_node() == 0) {
    printf("%d nodes counted to %ld: %s\n", terrane_nodes(), *counter, wrong ? "wrong" : "right");
  }
  terrane_finalize();
  return wrong;
}
