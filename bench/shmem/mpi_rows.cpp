// The rows of shmem_rows.cpp by MPI-3: one-sided calls on a window that stays locked, MPI_Barrier,
// MPI_Bcast, MPI_Allreduce. By bench_shmem.py; by hand:
//   mpirun -np 2 mpi_rows init|one-sided|together
#include <mpi.h>

#include <string_view>

#include "sides.h"

using namespace terrane::bench::sides;

namespace {

int me, ranks;
MPI_Win window;
char* own;  // our part of the window
double init_ns;

void put(const void* here, std::size_t bytes) {
  auto count = static_cast<int>(bytes);
  MPI_Put(here, count, MPI_BYTE, 1, 0, count, MPI_BYTE, window);
}

void get(void* here, std::size_t bytes) {
  auto count = static_cast<int>(bytes);
  MPI_Get(here, count, MPI_BYTE, 1, 0, count, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}

// A put needs no flush to begin, as shmem_p does not; the value of a get needs one.
void measure_words() {
  static long here = 1, one = 1, before = 0;
  std::vector<Row> rows;
  rows.push_back(row("p", "heap", 8, [](long) { put(&here, 8); }));
  rows.push_back(row("g", "heap", 8, [](long) { get(&here, 8); }));
  rows.push_back(row("put+quiet", "heap", 8, [](long) {
    put(&here, 8);
    MPI_Win_flush(1, window);
  }));
  rows.push_back(row("fetch-add", "heap", 8, [](long) {
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, window);
    MPI_Win_flush(1, window);
  }));
  measure(rows);
}

void measure_one_sided() {
  std::vector<char> buffer(kMostBytes, 1);
  char* here = buffer.data();
  if (me == 0) {
    put(here, kMostBytes);
    MPI_Win_flush(1, window);
    measure_words();
    for_each_size(kMostBytes, [&](std::size_t bytes) {
      unknown_bytes = bytes;
      std::vector<Row> rows;
      rows.push_back(row("put", "heap", bytes, [=](long) {
        put(here, unknown_bytes);
        MPI_Win_flush(1, window);
      }));
      rows.push_back(row("get", "heap", bytes, [=](long) { get(here, unknown_bytes); }));
      measure(rows);
    });
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

template <typename Body>
void together(const char* name, std::size_t bytes, Body body) {
  auto agree = [](long mine) {
    MPI_Bcast(&mine, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return mine;
  };
  measure_together(
      name, bytes, me == 0, body, [] { MPI_Barrier(MPI_COMM_WORLD); }, agree);
}

void measure_all_together() {
  auto* from = reinterpret_cast<long*>(own);
  auto* to = reinterpret_cast<long*>(own + kSumBytes);
  std::memset(own, 0, 2 * kSumBytes);
  together("barrier_all", 0, [] { MPI_Barrier(MPI_COMM_WORLD); });
  for (std::size_t bytes : {std::size_t{8}, kSumBytes}) {
    auto words = static_cast<int>(bytes / sizeof(long));
    together("broadcast", bytes, [&] {
      MPI_Bcast(from, words, MPI_LONG, 0, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    });
    together("sum", bytes, [&] {
      MPI_Allreduce(from, to, words, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    });
  }
}

void tell_init() {
  double longest = 0;
  MPI_Reduce(&init_ns, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me == 0) print_row("init", "none", 0, longest);
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view part = argc > 1 ? argv[1] : "";
  double start = now_ns();
  MPI_Init(&argc, &argv);
  init_ns = now_ns() - start;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (part == "init") {
    tell_init();
  } else if (ranks >= 2) {
    MPI_Win_allocate(kMostBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&own),
                     &window);
    MPI_Win_lock_all(0, window);
    if (part == "one-sided") measure_one_sided();
    if (part == "together") measure_all_together();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  MPI_Finalize();
}
