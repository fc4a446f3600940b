/* map_program.c with Omni's directives, which terrane-gcc makes into calls. */
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 64, kColumns = 512 };

static double rows[kRows][kColumns] __attribute__((aligned(4096)));
#pragma omni mapping(rows[block][*])

int main(void) {
  static double later[kRows][kColumns];
  for (int i = 0; i < 2; i++) {
#pragma omni mapping(later[block][*])
    later[i][0] = 1;
  }
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < kRows; i++) rows[i][0] = i;
#pragma omp parallel for schedule(affinity, rows[i][*])
  for (int i = 0; i < kRows; i++) rows[i][1] = i;
  for (int i = 0; i < kRows; i++)
    if (rows[i][0] != i || rows[i][1] != i) exit(1);
  printf("good, line %d of %s\n", __LINE__, __FILE__);
}
