// k-means of points in a plane, by the threads of the C++ library: a program that knows nothing of
// Terrane.
// Prints its own time, without that to make the points.
//   c++ -O2 -pthread kmeans.cpp -o kmeans
//   terrane threads -n 2 ./kmeans 4 100000
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kClusters = 8;

struct Point {
  double x, y;
};
struct Sum {
  double x = 0, y = 0;
  long count = 0;
};

std::vector<Point> points;
std::vector<signed char> cluster_of;  // of each point
std::vector<Point> centres(kClusters);
std::vector<Sum> sums(kClusters);  // of the round, of all threads
std::mutex mutex;                  // of the sums and the two below
std::condition_variable round_done;
int arrived = 0;
long rounds = 0;
bool is_stable = false;
std::atomic<long> moved{0};  // points that are in another cluster than in the round before

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

void work(std::size_t first, std::size_t end, int threads, long most_rounds) {
  for (long round = 0; round < most_rounds && !is_stable; ++round) {
    std::vector<Point> now = centres;
    std::vector<Sum> own(kClusters);
    long own_moved = 0;
    for (std::size_t i = first; i < end; ++i) {
      int cluster = nearest(points[i], now);
      if (cluster_of[i] != cluster) {
        cluster_of[i] = static_cast<signed char>(cluster);
        ++own_moved;
      }
      Sum& sum = own[cluster];
      sum.x += points[i].x;
      sum.y += points[i].y;
      ++sum.count;
    }
    moved.fetch_add(own_moved, std::memory_order_relaxed);
    std::unique_lock hold(mutex);
    for (int c = 0; c < kClusters; ++c) {
      sums[c].x += own[c].x;
      sums[c].y += own[c].y;
      sums[c].count += own[c].count;
    }
    if (++arrived == threads) {
      for (int c = 0; c < kClusters; ++c)
        if (sums[c].count > 0) centres[c] = {sums[c].x / sums[c].count, sums[c].y / sums[c].count};
      sums.assign(kClusters, Sum());
      arrived = 0;
      is_stable = moved.exchange(0) == 0;
      ++rounds;
      round_done.notify_all();
    } else {
      round_done.wait(hold, [round] { return rounds > round; });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int threads =
      argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1'000'000;
  long most_rounds = argc > 3 ? std::atol(argv[3]) : 20;
  std::mt19937 random(1);
  std::normal_distribution<double> spread(0, 1);
  for (std::size_t i = 0; i < count; ++i) {
    double angle = static_cast<double>(i % kClusters) * 0.785398;
    points.push_back(
        {10 * __builtin_cos(angle) + spread(random), 10 * __builtin_sin(angle) + spread(random)});
  }
  for (int c = 0; c < kClusters; ++c) centres[c] = points[c];
  cluster_of.assign(count, -1);
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back(work, count * t / threads, count * (t + 1) / threads, threads, most_rounds);
  for (std::thread& thread : team) thread.join();
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("time %.3f s\n", seconds.count());
  double worst = 0;
  for (int c = 0; c < kClusters; ++c) {
    double radius = __builtin_sqrt(centres[c].x * centres[c].x + centres[c].y * centres[c].y);
    if (__builtin_fabs(radius - 10) > worst) worst = __builtin_fabs(radius - 10);
    std::printf("cluster %d: %.6f %.6f\n", c, centres[c].x, centres[c].y);
  }
  std::printf("%ld rounds of %zu points with %d threads: %s\n", rounds, count, threads,
              worst < 0.5 ? "good" : "wrong");
  return worst < 0.5 ? 0 : 1;
}
