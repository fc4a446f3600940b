/* C = A B, all three spread in blocks over a grid of PEs. The PEs of a row and of a column of the
 * grid are teams. In turn, a panel of A is broadcast along the rows and one of B along the columns,
 * and each PE adds their product to its block of C (SUMMA, van de Geijn and Watts 1997). Usage:
 * oshrun -n 4 matmul [--size N] */
#include "support.h"

typedef struct {
  int rows, columns; /* of the grid of PEs */
  int row, column;   /* of this PE */
  shmem_team_t along_row, along_column;
} Grid;

/* Blocks of height x width; panels of A are height x depth, those of B depth x width. */
typedef struct {
  long size, height, width, depth;
  double *a, *b, *c;
} Matrices;

/* Elements that any PE knows, between -1 and 1. */
static double element_of_a(long i, long j) { return (double)((i * 7 + j * 3) % 17 - 8) / 8; }
static double element_of_b(long i, long j) { return (double)((i * 5 + j * 11) % 19 - 9) / 9; }

/* As square as the number of PEs allows. */
static Grid make_grid(int me, int pes) {
  Grid grid = {.rows = 1};
  for (int i = 1; i * i <= pes; i++) {
    if (pes % i == 0) grid.rows = i;
  }
  grid.columns = pes / grid.rows;
  grid.row = me / grid.columns;
  grid.column = me % grid.columns;
  if (shmem_team_split_2d(SHMEM_TEAM_WORLD, grid.columns, NULL, 0, &grid.along_row, NULL, 0,
                          &grid.along_column) != 0) {
    end_job(1, "matmul: the teams of the grid could not be made\n");
  }
  return grid;
}

static Matrices make_matrices(long size, const Grid* grid) {
  Matrices all = {size,
                  size / grid->rows,
                  size / grid->columns,
                  size / (grid->rows * grid->columns),
                  NULL,
                  NULL,
                  NULL};
  const size_t numbers = (size_t)(all.height * all.width);
  all.a = allocate_private(numbers, sizeof(double));
  all.b = allocate_private(numbers, sizeof(double));
  all.c = allocate_private(numbers, sizeof(double));
  for (long i = 0; i < all.height; i++) {
    for (long j = 0; j < all.width; j++) {
      const long row = grid->row * all.height + i;
      const long column = grid->column * all.width + j;
      all.a[i * all.width + j] = element_of_a(row, column);
      all.b[i * all.width + j] = element_of_b(row, column);
    }
  }
  return all;
}

static void add_product(const Matrices* all, const double* a_panel, const double* b_panel) {
  for (long i = 0; i < all->height; i++) {
    double* c = all->c + i * all->width;
    for (long k = 0; k < all->depth; k++) {
      const double a = a_panel[i * all->depth + k];
      const double* b = b_panel + k * all->width;
      for (long j = 0; j < all->width; j++) c[j] += a * b[j];
    }
  }
}

static void multiply(const Matrices* all, const Grid* grid) {
  const int panels = grid->rows * grid->columns;
  const size_t a_numbers = (size_t)(all->height * all->depth);
  const size_t b_numbers = (size_t)(all->depth * all->width);
  double* a_panel = allocate(a_numbers, sizeof(double));
  double* b_panel = allocate(b_numbers, sizeof(double));
  for (int panel = 0; panel < panels; panel++) {
    /* A block of A holds as many panels as the grid has rows, a block of B as many as columns. */
    const int a_owner = panel / grid->rows;
    const int b_owner = panel / grid->columns;
    shmem_team_sync(grid->along_row); /* all have used the panels before */
    shmem_team_sync(grid->along_column);
    if (grid->column == a_owner) {
      const double* from = all->a + panel % grid->rows * all->depth;
      for (long i = 0; i < all->height; i++) {
        memcpy(a_panel + i * all->depth, from + i * all->width,
               (size_t)all->depth * sizeof(double));
      }
    }
    if (grid->row == b_owner) {
      memcpy(b_panel, all->b + panel % grid->columns * all->depth * all->width,
             b_numbers * sizeof(double));
    }
    shmem_double_broadcast(grid->along_row, a_panel, a_panel, a_numbers, a_owner);
    shmem_double_broadcast(grid->along_column, b_panel, b_panel, b_numbers, b_owner);
    add_product(all, a_panel, b_panel);
  }
  shmem_barrier_all();
  shmem_free(b_panel);
  shmem_free(a_panel);
}

/* The largest element of |C x - A (B x)| (Freivalds), beside the size of the numbers in it; x is
 * 1, 2, 3, 1, 2, 3, ... */
static double find_residual(const Matrices* all, const Grid* grid) {
  static double largest, largest_anywhere; /* symmetric */
  const size_t height = (size_t)all->height;
  double* bx = allocate_private((size_t)all->size, sizeof(double));
  double* part = allocate(height, sizeof(double));
  double* cx = allocate(height, sizeof(double));
  for (long i = 0; i < all->size; i++) {
    for (long j = 0; j < all->size; j++) bx[i] += element_of_b(i, j) * (double)(j % 3 + 1);
  }
  for (long i = 0; i < all->height; i++) {
    for (long j = 0; j < all->width; j++) {
      part[i] += all->c[i * all->width + j] * (double)((grid->column * all->width + j) % 3 + 1);
    }
  }
  shmem_double_sum_reduce(grid->along_row, cx, part, height);
  for (long i = 0; i < all->height; i++) {
    for (long j = 0; j < all->size; j++) {
      cx[i] -= element_of_a(grid->row * all->height + i, j) * bx[j];
    }
    if (!(cx[i] <= largest && -cx[i] <= largest)) largest = cx[i] < 0 ? -cx[i] : cx[i];
  }
  largest /= (double)all->size * (double)all->size;
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, &largest_anywhere, &largest, 1);
  shmem_free(cx);
  shmem_free(part);
  free(bx);
  return largest_anywhere;
}

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  Option option = {"size", "rows and columns of the matrices", 1, 100000, 768};
  read_options(argc, argv, "Multiplies two matrices that are spread over all PEs.", &option, 1);
  const long size = option.value;
  if (size % pes != 0) {
    end_job(2, "matmul: --size %ld is no multiple of the number of PEs, %d\n", size, pes);
  }

  Grid grid = make_grid(me, pes);
  Matrices all = make_matrices(size, &grid);
  shmem_barrier_all();
  const double begin = seconds();
  multiply(&all, &grid);
  shmem_barrier_all();
  const double took = seconds() - begin;

  const double residual = find_residual(&all, &grid);
  const int right = residual <= 1e-15 * (double)size;
  if (me == 0) {
    const double operations = 2.0 * (double)size * (double)size * (double)size;
    printf("%ld x %ld on %d x %d PEs: %.3f s, %.2f Gflop/s\n", size, size, grid.rows, grid.columns,
           took, operations / took * 1e-9);
    printf("residual %.2g: %s\n", residual, right ? "right" : "wrong");
  }
  free(all.a);
  free(all.b);
  free(all.c);
  shmem_team_destroy(grid.along_row);
  shmem_team_destroy(grid.along_column);
  shmem_finalize();
  return !right;
}
