/* Every PE stores its number into the memory of the next one, and tells what it found in its own.
 * Usage: oshrun -n 4 hello */
#include <shmem.h>
#include <stdio.h>

/* Static data are symmetric: every PE has its own, which all may reach. */
static int greeter;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();

  shmem_int_p(&greeter, me, (me + 1) % pes);
  shmem_barrier_all();
  printf("PE %d of %d: greeted by PE %d\n", me, pes, greeter);

  shmem_finalize();
  return 0;
}
