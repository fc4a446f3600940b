/* Every node writes its line into shared memory; node 0 prints them all. */
#include <stdio.h>
#include <terrane/pages.h>

enum { kLine = 64 };

int main(void) {
  if (terrane_init() != TERRANE_OK) {
    fprintf(stderr, "hello: %s\n", terrane_error());
    return 1;
  }
  const int node = terrane_node();
  const int nodes = terrane_nodes();
  char(*lines)[kLine] = terrane_alloc_all((size_t)nodes * kLine, NULL);
  if (lines == NULL) {
    fprintf(stderr, "hello: %s\n", terrane_error());
    return 1;
  }
  snprintf(lines[node], kLine, "hello from node %d of %d", node, nodes);
  terrane_barrier();
  for (int i = 0; node == 0 && i < nodes; i++) puts(lines[i]);
  return terrane_finalize() == TERRANE_OK ? 0 : 1;
}
