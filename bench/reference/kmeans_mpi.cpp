// k-means of points in a plane by MPI: the points, the start and the rounds of
// examples/threads/kmeans.cpp. Rank 0 makes the points, as main does
// there, and each rank has a part of them.
//   mpirun -np 2 kmeans_mpi 10000000 20
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

constexpr int kClusters = 8;

struct Point {
  double x, y;
};
struct Sum {
  double x = 0, y = 0, count = 0;
};
// Of a round, of all ranks.
struct Round {
  Sum sums[kClusters];
  double moved = 0;
};

int nearest(const Point& point, const std::vector<Point>& among) {
  int best = 0;
  double least = 1e300;
  for (int c = 0; c < kClusters; ++c) {
    double dx = point.x - among[c].x, dy = point.y - among[c].y;
    if (dx * dx + dy * dy < least) {
      least = dx * dx + dy * dy;
      best = c;
    }
  }
  return best;
}

std::vector<Point> make(std::size_t count) {
  std::vector<Point> points;
  std::mt19937 random(1);
  std::normal_distribution<double> spread(0, 1);
  for (std::size_t i = 0; i < count; ++i) {
    double angle = static_cast<double>(i % kClusters) * 0.785398;
    points.push_back(
        {10 * std::cos(angle) + spread(random), 10 * std::sin(angle) + spread(random)});
  }
  return points;
}

// From rank 0, which made all points, to each rank its own.
std::vector<Point> scatter(const std::vector<Point>& all, std::size_t count, int rank, int ranks) {
  std::vector<int> counts, firsts;
  for (int r = 0; r < ranks; ++r) {
    std::size_t first = count * r / ranks, end = count * (r + 1) / ranks;
    firsts.push_back(static_cast<int>(first));
    counts.push_back(static_cast<int>(end - first));
  }
  MPI_Datatype point;
  MPI_Type_contiguous(2, MPI_DOUBLE, &point);
  MPI_Type_commit(&point);
  std::vector<Point> own(counts[rank]);
  MPI_Scatterv(all.data(), counts.data(), firsts.data(), point, own.data(), counts[rank], point, 0,
               MPI_COMM_WORLD);
  MPI_Type_free(&point);
  return own;
}

long iterate(const std::vector<Point>& points, std::vector<Point>& centres, long most_rounds) {
  std::vector<signed char> cluster_of(points.size(), -1);
  long rounds = 0;
  for (bool is_stable = false; rounds < most_rounds && !is_stable; ++rounds) {
    Round own;
    for (std::size_t i = 0; i < points.size(); ++i) {
      int cluster = nearest(points[i], centres);
      if (cluster_of[i] != cluster) {
        cluster_of[i] = static_cast<signed char>(cluster);
        ++own.moved;
      }
      Sum& sum = own.sums[cluster];
      sum.x += points[i].x;
      sum.y += points[i].y;
      ++sum.count;
    }
    Round all;
    MPI_Allreduce(&own, &all, sizeof all / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int c = 0; c < kClusters; ++c)
      if (all.sums[c].count > 0)
        centres[c] = {all.sums[c].x / all.sums[c].count, all.sums[c].y / all.sums[c].count};
    is_stable = all.moved == 0;
  }
  return rounds;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000;
  long most_rounds = argc > 2 ? std::atol(argv[2]) : 20;
  std::vector<Point> all = rank == 0 ? make(count) : std::vector<Point>();
  std::vector<Point> centres(kClusters);
  if (rank == 0) std::copy_n(all.begin(), kClusters, centres.begin());
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  std::vector<Point> points = scatter(all, count, rank, ranks);
  double scattered = MPI_Wtime() - begin;
  MPI_Bcast(centres.data(), 2 * kClusters, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  long rounds = iterate(points, centres, most_rounds);
  double seconds = MPI_Wtime() - begin;
  if (rank == 0) {
    for (int c = 0; c < kClusters; ++c)
      std::printf("cluster %d: %.6f %.6f\n", c, centres[c].x, centres[c].y);
    std::printf("%ld rounds of %zu points with %d ranks\n", rounds, count, ranks);
    std::printf("time %.3f s, %.3f s of it to scatter the points\n", seconds, scattered);
  }
  MPI_Finalize();
}
