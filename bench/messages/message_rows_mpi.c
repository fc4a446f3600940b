/* What a message costs between two processes by MPI, in the sizes and numbers of rows.h. One turn.
 *
 *   mpirun -np 2 message_rows_mpi */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const size_t latency_bytes[] = {8, 64, 512, 4096};
static const size_t stream_bytes[] = {64 << 10, 1 << 20, 16 << 20, 64 << 20};
enum { kSizes = 4, kRoundTrips = 3000 };

static double round_trip(int self, char* buffer, int bytes) {
  const double start = MPI_Wtime();
  for (int i = 0; i < kRoundTrips; i++) {
    if (self == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1 - self, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (self == 1) MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / kRoundTrips * 1e9;
}

static double stream(int self, char* buffer, int bytes) {
  const int messages = (48 << 20) / bytes > 3 ? (48 << 20) / bytes : 3;
  const double start = MPI_Wtime();
  for (int i = 0; i < messages; i++) {
    if (self == 0) {
      MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (self == 0) {
    MPI_Recv(buffer, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(buffer, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / messages * 1e9;
}

int main(int argc, char** argv) {
  int self = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  char* buffer = calloc(1, stream_bytes[kSizes - 1]);
  if (buffer == NULL) return 1;
  round_trip(self, buffer, 8);
  for (int i = 0; i < kSizes; i++) {
    const double ns = round_trip(self, buffer, (int)latency_bytes[i]);
    if (self == 0) printf("row=latency bytes=%zu wait=poll ns=%.1f\n", latency_bytes[i], ns);
  }
  for (int i = 0; i < kSizes; i++) {
    const double ns = stream(self, buffer, (int)stream_bytes[i]);
    if (self == 0) printf("row=stream bytes=%zu wait=poll ns=%.1f\n", stream_bytes[i], ns);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
