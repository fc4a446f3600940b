// The frames of chunk_rows.cpp by MPI: a send to each subscriber into a buffer that it has posted.
// By bench_chunks.py; by hand: mpirun -np 3 mpi_chunk_rows BYTES FRAMES [whole]
#include <mpi.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "frames.h"

using namespace terrane::bench::frames;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::size_t bytes = argc > 2 ? std::strtoull(argv[1], nullptr, 10) : 8;
  int frames = argc > 2 ? std::atoi(argv[2]) : 1;
  std::vector<char> frame(bytes);
  Account account(bytes, argc > 3 && std::string_view(argv[3]) == "whole");
  account.begin();
  auto count = static_cast<int>(bytes);
  for (int number = 1; number <= frames; ++number) {
    if (rank == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      fill(frame.data(), bytes, number);
      std::vector<MPI_Request> sends(static_cast<std::size_t>(ranks - 1));
      for (int to = 1; to < ranks; ++to)
        MPI_Isend(frame.data(), count, MPI_BYTE, to, 0, MPI_COMM_WORLD,
                  &sends[static_cast<std::size_t>(to - 1)]);
      MPI_Waitall(ranks - 1, sends.data(), MPI_STATUSES_IGNORE);
    } else {
      MPI_Request receive;
      MPI_Irecv(frame.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &receive);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      account.take(frame.data(), number);
    }
  }
  account.print(frames);
  MPI_Finalize();
  return 0;
}
