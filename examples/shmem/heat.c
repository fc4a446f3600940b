/* Heat in a square plate whose upper edge is heated: explicit steps on a grid whose rows are spread
 * over the PEs. After each step a PE puts its outer rows into its neighbours' memory, each with a
 * signal; a PE waits for nothing else, and there is no barrier.
 * Usage: oshrun -n 4 heat [--size N] [--steps N] */
#include "support.h"

/* The rows of one PE, between two rows of its neighbours (or of the edge). There are two grids: a
 * step reads one and writes the other. */
typedef struct {
  double* grid[2];
  uint64_t* arrived; /* from above and from below: the step whose row is here */
  long first, rows;  /* of the plate */
  long width;        /* numbers in a row, with both edges */
} Plate;

/* The first row of a PE's share; the PE after the last one has the end. */
static long first_row(long size, int pe, int pes) { return size * pe / pes; }

static void relax(const double* from, double* to, long rows, long width) {
  for (long row = 1; row <= rows; row++) {
    const double* here = from + row * width;
    for (long i = 1; i < width - 1; i++) {
      const double around = here[i - 1] + here[i + 1] + here[i - width] + here[i + width];
      to[row * width + i] = here[i] + 0.2 * (around - 4 * here[i]);
    }
  }
}

static void heat_upper_edge(double* grid, long width) {
  for (long i = 0; i < width; i++) grid[i] = 100.0;
}

static Plate make_plate(long size, int me, int pes) {
  Plate plate = {.width = size + 2, .first = first_row(size, me, pes)};
  plate.rows = first_row(size, me + 1, pes) - plate.first;
  /* The same everywhere, as symmetric memory must be. */
  const long most_rows = (size + pes - 1) / pes + 2;
  for (int i = 0; i < 2; i++) {
    plate.grid[i] = allocate((size_t)(most_rows * plate.width), sizeof(double));
    if (me == 0) heat_upper_edge(plate.grid[i], plate.width);
  }
  plate.arrived = allocate(2, sizeof(uint64_t));
  return plate;
}

/* Our row of step s takes the place of our row of step s - 2 in the neighbour's memory. The
 * neighbour has read that one: it did so before it sent us its row of step s - 1, without which
 * there is no step s here. */
static void run_steps(Plate* plate, long size, long steps, int me, int pes) {
  const size_t width = (size_t)plate->width;
  const long rows_above = me > 0 ? first_row(size, me, pes) - first_row(size, me - 1, pes) : 0;
  for (long step = 1; step <= steps; step++) {
    const uint64_t before = (uint64_t)step - 1;
    if (me > 0) shmem_signal_wait_until(&plate->arrived[0], SHMEM_CMP_GE, before);
    if (me < pes - 1) shmem_signal_wait_until(&plate->arrived[1], SHMEM_CMP_GE, before);
    double* grid = plate->grid[step % 2];
    relax(plate->grid[before % 2], grid, plate->rows, plate->width);
    if (me > 0) {
      shmem_double_put_signal(grid + (size_t)(rows_above + 1) * width, grid + width, width,
                              &plate->arrived[1], (uint64_t)step, SHMEM_SIGNAL_SET, me - 1);
    }
    if (me < pes - 1) {
      shmem_double_put_signal(grid, grid + (size_t)plate->rows * width, width, &plate->arrived[0],
                              (uint64_t)step, SHMEM_SIGNAL_SET, me + 1);
    }
  }
}

/* The whole plate, from all PEs. */
static double* collect_plate(const Plate* plate, long size, long steps, int pes) {
  const size_t width = (size_t)plate->width;
  double* whole = allocate_private((size_t)(size + 2) * width, sizeof(double));
  heat_upper_edge(whole, plate->width);
  for (int pe = 0; pe < pes; pe++) {
    const long first = first_row(size, pe, pes);
    const long rows = first_row(size, pe + 1, pes) - first;
    shmem_double_get(whole + (size_t)(first + 1) * width, plate->grid[steps % 2] + width,
                     (size_t)rows * width, pe);
  }
  return whole;
}

/* Does the same alone. The seconds it took; `same` tells whether both results agree bit for bit. */
static double compare_with_serial(const double* whole, long size, long steps, int* same) {
  const long width = size + 2;
  const size_t numbers = (size_t)(width * width);
  double* grids[2];
  for (int i = 0; i < 2; i++) {
    grids[i] = allocate_private(numbers, sizeof(double));
    heat_upper_edge(grids[i], width);
  }
  const double begin = seconds();
  for (long step = 1; step <= steps; step++) {
    relax(grids[(step - 1) % 2], grids[step % 2], size, width);
  }
  const double took = seconds() - begin;
  *same = memcmp(grids[steps % 2], whole, numbers * sizeof(double)) == 0;
  free(grids[0]);
  free(grids[1]);
  return took;
}

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  Option options[] = {{"size", "rows and columns of the plate", 1, 1000000, 1024},
                      {"steps", "steps of time", 1, 100000000, 500}};
  read_options(argc, argv, "Heat spreads in a plate.", options, 2);
  const long size = options[0].value;
  const long steps = options[1].value;
  if (size < pes) end_job(2, "heat: --size %ld is less than the number of PEs, %d\n", size, pes);

  Plate plate = make_plate(size, me, pes);
  shmem_barrier_all();
  const double begin = seconds();
  run_steps(&plate, size, steps, me, pes);
  shmem_barrier_all();
  const double took = seconds() - begin;

  int same = 1;
  if (me == 0) {
    double* whole = collect_plate(&plate, size, steps, pes);
    const double serial = compare_with_serial(whole, size, steps, &same);
    printf("%ld x %ld, %ld steps on %d PEs: time %.3f s, serial time %.3f s\n", size, size, steps,
           pes, took, serial);
    printf(same ? "verified: identical to the serial result\n" : "the serial result differs\n");
    free(whole);
  }
  shmem_finalize();
  return !same;
}
