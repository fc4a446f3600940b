/* Jacobi by MPI: every rank keeps its rows and a halo row at either side, exchanged while the inner
 * rows are computed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "jacobi_kernel.h"
#include "jacobi_program.h"

typedef struct rank_state {
  jacobi_options options;
  size_t rank, ranks;
  jacobi_rows own;   /* of the grid */
  jacobi_rows swept; /* of the local arrays, in which row 0 is the halo above */
  size_t local_bytes;
  double* local[2];
  double* grid; /* rank 0: the whole grid, to scatter from and to gather into */
  MPI_Datatype row_type;
  jacobi_run run;
} rank_state;

static size_t row_count(const rank_state* s) { return s->own.end - s->own.first; }

/* The halo rows of `values` from the neighbours' boundary rows, and ours to them; returns the
 * number of requests. */
static int start_exchange(const rank_state* s, double* values, MPI_Request* requests) {
  const size_t size = s->options.size;
  const size_t rows = row_count(s);
  const int rank = (int)s->rank;
  int count = 0;
  if (s->rank > 0) {
    MPI_Irecv(values, 1, s->row_type, rank - 1, 0, MPI_COMM_WORLD, &requests[count++]);
    MPI_Isend(values + size, 1, s->row_type, rank - 1, 1, MPI_COMM_WORLD, &requests[count++]);
  }
  if (s->rank + 1 < s->ranks) {
    MPI_Irecv(values + (rows + 1) * size, 1, s->row_type, rank + 1, 1, MPI_COMM_WORLD,
              &requests[count++]);
    MPI_Isend(values + rows * size, 1, s->row_type, rank + 1, 0, MPI_COMM_WORLD,
              &requests[count++]);
  }
  return count;
}

static void sweep_once(const rank_state* s, double* from, double* to) {
  const size_t size = s->options.size;
  const jacobi_rows rows = s->swept;
  MPI_Request requests[4];
  const int count = start_exchange(s, from, requests);
  if (rows.end > rows.first + 2)
    jacobi_sweep(from, to, (jacobi_rows){rows.first + 1, rows.end - 1}, size);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (rows.end > rows.first)
    jacobi_sweep(from, to, (jacobi_rows){rows.first, rows.first + 1}, size);
  if (rows.end > rows.first + 1)
    jacobi_sweep(from, to, (jacobi_rows){rows.end - 1, rows.end}, size);
}

static void iterate(rank_state* s) {
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start = jacobi_now_ns();
  uint64_t last = start;
  for (size_t i = 0; i < s->options.iterations; i++) {
    sweep_once(s, s->local[i % 2], s->local[(i + 1) % 2]);
    const uint64_t now = jacobi_now_ns();
    s->run.iteration_ns[i] = now - last;
    last = now;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  s->run.loop_ns = jacobi_now_ns() - start;
}

/* The rows of every rank, for MPI_Scatterv and MPI_Gatherv. */
static void all_rows(const rank_state* s, int* counts, int* starts) {
  for (size_t r = 0; r < s->ranks; r++) {
    const jacobi_rows rows = jacobi_own_rows(s->options.size, r, s->ranks);
    counts[r] = (int)(rows.end - rows.first);
    starts[r] = (int)rows.first;
  }
}

static void fill(double* values, jacobi_rows rows, size_t size) {
  for (size_t y = rows.first; y < rows.end; y++)
    jacobi_fill_row(values + (y - rows.first) * size, y, size);
}

static void initialise(rank_state* s) {
  const size_t size = s->options.size;
  double* const first_row = s->local[0] + size;
  s->run.scatter_ns = 0;
  if (s->options.init == JACOBI_INIT_OWN) {
    fill(first_row, s->own, size);
    memcpy(s->local[1], s->local[0], s->local_bytes);
    return;
  }
  if (s->rank == 0) fill(s->grid, (jacobi_rows){0, size}, size);
  int counts[s->ranks];
  int starts[s->ranks];
  all_rows(s, counts, starts);
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t start = jacobi_now_ns();
  MPI_Scatterv(s->grid, counts, starts, s->row_type, first_row, counts[s->rank], s->row_type, 0,
               MPI_COMM_WORLD);
  memcpy(s->local[1], s->local[0], s->local_bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  s->run.scatter_ns = jacobi_now_ns() - start;
}

static void gather(rank_state* s) {
  int counts[s->ranks];
  int starts[s->ranks];
  all_rows(s, counts, starts);
  const double* result = s->local[s->options.iterations % 2] + s->options.size;
  const uint64_t start = jacobi_now_ns();
  MPI_Gatherv(result, counts[s->rank], s->row_type, s->grid, counts, starts, s->row_type, 0,
              MPI_COMM_WORLD);
  s->run.gather_ns = jacobi_now_ns() - start;
}

static void run_once(rank_state* s, size_t repeat) {
  const size_t size = s->options.size;
  const size_t grid_bytes = size * size * sizeof(double);
  s->local[0] = jacobi_allocate(s->local_bytes);
  s->local[1] = jacobi_allocate(s->local_bytes);
  s->grid = s->rank == 0 ? jacobi_allocate(grid_bytes) : NULL;
  initialise(s);
  iterate(s);
  gather(s);
  if (s->rank == 0) {
    s->run.checksum = jacobi_checksum(s->grid, size * size);
    jacobi_print("mpi", &s->options, s->ranks, repeat, &s->run);
    jacobi_release(s->grid, grid_bytes);
  }
  jacobi_release(s->local[0], s->local_bytes);
  jacobi_release(s->local[1], s->local_bytes);
}

static void run_all(rank_state* s) {
  const size_t size = s->options.size;
  s->own = jacobi_own_rows(size, s->rank, s->ranks);
  const jacobi_rows inner = jacobi_inner_rows(s->own, size);
  s->swept = (jacobi_rows){inner.first + 1 - s->own.first, inner.end + 1 - s->own.first};
  s->local_bytes = (row_count(s) + 2) * size * sizeof(double);
  const size_t times_bytes = s->options.iterations * sizeof(uint64_t);
  s->run.iteration_ns = jacobi_allocate(times_bytes);
  MPI_Type_contiguous((int)size, MPI_DOUBLE, &s->row_type);
  MPI_Type_commit(&s->row_type);
  for (size_t repeat = 0; repeat < s->options.repeat; repeat++) run_once(s, repeat);
  MPI_Type_free(&s->row_type);
  jacobi_release(s->run.iteration_ns, times_bytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_state state = {.rank = (size_t)rank, .ranks = (size_t)ranks};
  int status = jacobi_parse(argc, argv, rank == 0, &state.options);
  if (status < 0 && (state.options.threads != 1 || state.ranks > state.options.size)) {
    if (rank == 0) fprintf(stderr, "jacobi_mpi: one thread a rank, and no more ranks than rows\n");
    status = 2;
  }
  if (status < 0) {
    run_all(&state);
    status = 0;
  }
  MPI_Finalize();
  return status;
}
