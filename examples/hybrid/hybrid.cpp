// All three interfaces in one program: heat in a square plate whose upper edge is heated. The
// plate lies in shared pages, OpenSHMEM reports how much a sweep has changed anywhere, and chunks
// carry the mean of each row to node 0 while the computation goes on. At the end node 0 checks
// whether all of them report the same. Usage: terrane run -n 4 hybrid [SIZE [SWEEPS]]
#include <shmem.h>
#include <terrane/pages.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <terrane/chunks.hpp>
#include <vector>

namespace {

namespace chunks = terrane::chunks;

struct RowMean {
  long sweep;
  double celsius;
};

// Symmetric, since it is static: a largest change for OpenSHMEM to combine.
double my_change, largest_change;

class Plate {
 public:
  explicit Plate(long size)
      : width_(size + 2), cells_(allocate(2 * static_cast<std::size_t>(width_ * width_))) {}
  double* grid(long sweep) { return cells_ + (sweep % 2) * width_ * width_; }
  double* row(long sweep, long index) { return grid(sweep) + index * width_; }

  void heat() {
    for (long sweep : {0, 1}) std::fill_n(row(sweep, 0), width_, 100.0);
  }
  // Row `index` of sweep `sweep` -> that of the next one; the largest change.
  double relax(long sweep, long index) {
    const double* here = row(sweep, index);
    double* next = row(sweep + 1, index);
    double change = 0;
    for (long i = 1; i < width_ - 1; ++i) {
      next[i] = 0.25 * (here[i - 1] + here[i + 1] + here[i - width_] + here[i + width_]);
      change = std::max(change, std::abs(next[i] - here[i]));
    }
    return change;
  }
  double mean(long sweep, long index) {
    double sum = 0;
    for (long i = 1; i < width_ - 1; ++i) sum += row(sweep, index)[i];
    return sum / static_cast<double>(width_ - 2);
  }

 private:
  static double* allocate(std::size_t cells) {
    void* address = terrane_alloc_all(cells * sizeof(double), nullptr);
    if (address == nullptr) {
      std::fprintf(stderr, "hybrid: %s\n", terrane_error());
      std::exit(1);
    }
    return static_cast<double*>(address);
  }

  long width_;
  double* cells_;
};

int run(long size, long sweeps) {
  chunks::Job job;
  const int me = terrane_node(), nodes = terrane_nodes();
  if (shmem_my_pe() != me || job.node() != me || shmem_n_pes() != nodes || job.nodes() != nodes) {
    std::fprintf(stderr, "hybrid: the interfaces do not agree which node this is\n");
    return 1;
  }
  Plate plate(size);
  if (me == 0) plate.heat();
  std::vector<chunks::Chunk<RowMean>> means;
  for (long row = 1; row <= size; ++row)
    means.push_back(
        job.create<RowMean>("row " + std::to_string(row), 1, chunks::Coherence::kInvalidate));
  const long first = 1 + size * me / nodes, end = 1 + size * (me + 1) / nodes;
  terrane_barrier();

  for (long sweep = 0; sweep < sweeps; ++sweep) {
    my_change = 0;
    for (long row = first; row < end; ++row) {
      my_change = std::max(my_change, plate.relax(sweep, row));
      means[static_cast<std::size_t>(row - 1)].write()[0] = {sweep + 1, plate.mean(sweep + 1, row)};
    }
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &largest_change, &my_change, 1);
    terrane_barrier();
  }

  int wrong = 0;
  if (me == 0) {
    double change = 0;  // of the last sweep, by the pages alone
    for (long row = 1; row <= size; ++row) {
      RowMean told = means[static_cast<std::size_t>(row - 1)].read()[0];
      wrong += told.sweep != sweeps || told.celsius != plate.mean(sweeps, row);
      for (long i = 1; i <= size; ++i)
        change =
            std::max(change, std::abs(plate.row(sweeps, row)[i] - plate.row(sweeps - 1, row)[i]));
    }
    wrong += change != largest_change;
    std::printf("%d nodes, %ld sweeps: pages, OpenSHMEM and chunks tell %s\n", nodes, sweeps,
                wrong == 0 ? "the same" : "different things");
  }
  terrane_barrier();
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long size = argc > 1 ? std::atol(argv[1]) : 64;
  const long sweeps = argc > 2 ? std::atol(argv[2]) : 100;
  if (size < 1 || sweeps < 1) {
    std::fprintf(stderr, "usage: terrane run -n 4 hybrid [SIZE [SWEEPS]], both from 1\n");
    return 2;
  }
  if (terrane_init() != TERRANE_OK) {
    std::fprintf(stderr, "hybrid: %s\n", terrane_error());
    return 1;
  }
  shmem_init();
  int result = run(size, sweeps);
  shmem_finalize();
  terrane_finalize();
  return result;
}
