/* What MPI takes for a barrier: prints barrier_ns=, the mean of many in a row, once a round. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { kRounds = 5, kTimes = 2000 };
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < kRounds; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < kTimes; i++) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("barrier_ns=%.1f\n", (MPI_Wtime() - start) / kTimes * 1e9);
  }
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
