#include "shared_solver.h"

#include <algorithm>

#include "heal.h"
#include "support/workers.h"

namespace restore {
namespace {

template <typename T>
bool allocate(T*& out, std::size_t count, const char* name) {
  terrane_alloc_options options{};
  options.name = name;
  out = static_cast<T*>(terrane_alloc_all(count * sizeof(T), &options));
  return out != nullptr;
}

// One worker's part in the team of all threads of all nodes.
class SharedTeam {
 public:
  SharedTeam(double* changes, std::uint32_t worker, std::uint32_t workers,
             std::uint32_t threads_here)
      : changes_(changes), worker_(worker), workers_(workers), threads_here_(threads_here) {}

  void wait() { example::workers_barrier(threads_here_); }

  // Two sets of slots in turn: the next test may write while a slow worker still reads the last.
  double largest(double mine) {
    double* const slots = changes_ + std::size_t{tests_++ % 2} * workers_;
    slots[worker_] = mine;
    wait();
    return *std::max_element(slots, slots + workers_);
  }

 private:
  double* changes_;
  std::uint32_t worker_, workers_, threads_here_;
  std::uint32_t tests_ = 0;
};

}  // namespace

Outcome<SharedPicture> allocate_shared(std::uint32_t width, std::uint32_t height,
                                       std::uint32_t channels, std::uint32_t workers) {
  const std::size_t pixels = std::size_t{width} * height;
  SharedPicture shared;
  const bool ok = allocate(shared.samples, pixels * channels, "damaged") &&
                  allocate(shared.mask, pixels, "mask") &&
                  allocate(shared.restored, pixels * channels, "restored") &&
                  allocate(shared.a, pixels * channels, "solution a") &&
                  allocate(shared.b, pixels * channels, "solution b") &&
                  allocate(shared.ranges, workers, "row ranges") &&
                  allocate(shared.changes, std::size_t{2} * workers, "changes") &&
                  allocate(shared.counters, static_cast<std::size_t>(terrane_nodes()), "counters");
  if (!ok) return Failure{std::string("no shared memory for the picture: ") + terrane_error()};
  return shared;
}

void publish(const Image& damaged, const Mask& mask, std::uint32_t workers,
             const SharedPicture& shared) {
  std::copy(damaged.samples.begin(), damaged.samples.end(), shared.samples);
  std::copy(mask.begin(), mask.end(), shared.mask);
  const auto ranges = split_rows(mask.data(), damaged.width, damaged.height, workers);
  std::copy(ranges.begin(), ranges.end(), shared.ranges);
}

Convergence solve_shared(const Damaged& picture, const SolverSettings& settings,
                         const SharedPicture& shared, std::uint32_t threads, const Watcher& watch) {
  const auto node = static_cast<std::uint32_t>(terrane_node());
  const std::uint32_t workers = static_cast<std::uint32_t>(terrane_nodes()) * threads;
  Convergence result;  // every worker finds the same; the calling thread's is returned

  const auto work = [&](std::uint32_t thread) {
    const std::uint32_t worker = node * threads + thread;
    const DamagedRows rows(picture, shared.ranges[worker]);
    rows.initialise(shared.a, shared.b);
    SharedTeam team(shared.changes, worker, workers, threads);
    team.wait();
    const Convergence found =
        iterate(rows, settings, shared.a, shared.b, team, thread == 0 ? watch : Watcher{});
    // The last test of convergence was a barrier: the whole solution can be read.
    const double* const solution = found.iterations % 2 == 1 ? shared.b : shared.a;
    rows.quantise(solution, Healing(picture, solution), shared.restored);
    if (thread == 0) result = found;
    team.wait();
  };

  example::run_threads(threads, work);
  return result;
}

}  // namespace restore
