// Solves a system of linear equations on all nodes of a job: plain loads and stores on shared
// memory, barriers, no messages.
#include <terrane/pages.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <optional>

#include "generate.h"
#include "matrix_market.h"
#include "options.h"
#include "shared_factor.h"
#include "solve.h"
#include "support/breakdown.h"

namespace lu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsageError = 2;

// What node 0 tells the others: written by node 0 alone, read by all after a barrier.
struct Header {
  int failed;
  std::uint32_t size;
};

// On node 0: A x = b.
struct System {
  Matrix a;
  Vector b;
};

bool first_node() { return terrane_node() == 0; }

int complain(const std::string& sentence, int status) {
  if (first_node()) std::fprintf(stderr, "lu: %s\n", sentence.c_str());
  return status;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string name_of(const Options& options) {
  if (options.generate == 0) return options.matrix;
  char text[80];
  std::snprintf(text, sizeof text, "lu --generate %u --density %g --seed %llu", options.generate,
                options.density, static_cast<unsigned long long>(options.seed));
  return text;
}

Outcome<System> load(const Options& options) {
  System system;
  if (options.generate != 0) {
    system.a = generate(options.generate, options.density, options.seed);
  } else {
    Outcome<Matrix> read = read_matrix(options.matrix);
    if (!read.ok()) return Failure{read.sentence()};
    system.a = std::move(read.value());
  }
  system.b.assign(system.a.size, 1.0);
  if (!options.rhs.empty()) {
    Outcome<Vector> read = read_vector(options.rhs, system.a.size);
    if (!read.ok()) return Failure{read.sentence()};
    system.b = std::move(read.value());
  }
  if (!options.write.empty()) {
    Outcome<> written = write_matrix(options.write, system.a, name_of(options));
    if (!written.ok()) return Failure{written.sentence()};
  }
  return system;
}

void print_task(const Options& options, const System& system) {
  const bool one_node = terrane_nodes() == 1;
  std::printf("%s: %u x %u, %zu entries; %d node%s x %u thread%s\n", name_of(options).c_str(),
              system.a.size, system.a.size, system.a.entries.size(), terrane_nodes(),
              one_node ? "" : "s", options.threads, options.threads == 1 ? "" : "s");
  std::fflush(stdout);
}

// Node 0 reads the files; every node returns with the matrix's size, or what failed, in `header`.
std::optional<System> load_on_first_node(const Options& options, Header* header) {
  std::optional<System> system;
  if (first_node()) {
    Outcome<System> loaded = load(options);
    if (loaded.ok()) {
      system = std::move(loaded.value());
      header->size = system->a.size;
      print_task(options, *system);
    } else {
      header->failed = complain(loaded.sentence(), kFailed);
    }
  }
  terrane_barrier();
  return system;
}

Outcome<> compare(const System& system, const SharedMatrix& shared, double seconds) {
  const auto start = Clock::now();
  const SerialFactors serial(system.a);
  const double serial_seconds = seconds_since(start);
  const std::size_t different = count_different(shared.shape, shared.panels, serial.panels());
  if (different != 0) {
    return Failure{"the factors differ from one thread's in " + std::to_string(different) +
                   " values: shared memory lost a value; please report this"};
  }
  std::printf("one thread: factored in %.3f s, speed-up %.2f; the factors are the same bits\n",
              serial_seconds, serial_seconds / seconds);
  return success();
}

// Node 0, after the factorisation: solves, checks, tells.
Outcome<> conclude(const Options& options, const System& system, const SharedMatrix& shared,
                   double seconds) {
  const double n = system.a.size;
  const auto start = Clock::now();
  const Solution solution = solve(system.a, shared.panels, system.b);
  std::printf("factored in %.3f s (%.2f GFLOP/s), solved in %.3f s\n", seconds,
              2e-9 / 3 * n * n * n / seconds, seconds_since(start));
  std::printf("residual ||b - A x|| / (||A|| ||x||) = %.3g, bound %.3g", solution.error,
              solution.bound);
  if (solution.refined > 0) std::printf("; refined %u times", solution.refined);
  std::printf("\n");
  if (!solution.good()) {
    return Failure{"the residual is too large: the matrix is singular to working precision"};
  }
  if (options.compare) {
    Outcome<> compared = compare(system, shared, seconds);
    if (!compared.ok()) return compared;
  }
  example::print_breakdown(shared.counters, terrane_nodes(), options.threads);
  std::printf("\nverified: the residual is within its bound\n");
  return options.output.empty() ? success() : write_vector(options.output, solution.x);
}

// Between terrane_init and terrane_finalize, on every node; returns the exit status.
int run(const Options& options) {
  auto* const header = static_cast<Header*>(terrane_alloc_all(sizeof(Header), nullptr));
  if (header == nullptr) return complain(terrane_error(), kFailed);
  const std::optional<System> system = load_on_first_node(options, header);
  if (header->failed != 0) return header->failed;

  Outcome<SharedMatrix> allocated = allocate_shared(header->size, options.threads);
  if (!allocated.ok()) return complain(allocated.sentence(), kFailed);
  const SharedMatrix& shared = allocated.value();
  if (system) fill_panels(system->a, shared.panels.data());
  terrane_barrier();

  const auto start = Clock::now();
  const std::uint64_t singular = factor_shared(shared, options.threads);
  const double seconds = seconds_since(start);
  terrane_barrier();
  if (singular != 0) {
    return complain("the matrix is singular: column " + std::to_string(singular) + " has no pivot",
                    kFailed);
  }
  if (system) {
    Outcome<> concluded = conclude(options, *system, shared, seconds);
    if (!concluded.ok()) header->failed = complain(concluded.sentence(), kFailed);
  }
  terrane_barrier();
  return header->failed;
}

int run_as_node(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) {
    std::fprintf(stderr, "lu: %s\n", terrane_error());
    return kFailed;
  }
  // Every node reads the same command line and comes to the same end; node 0 speaks.
  const Outcome<Options> options = parse_options(argc, argv);
  int status = kOk;
  if (!options.ok()) {
    status = complain(options.sentence(), kUsageError);
  } else if (options.value().help) {
    if (first_node()) std::fputs(kUsage, stdout);
  } else {
    status = run(options.value());
  }
  std::fflush(stdout);
  terrane_finalize();
  return status;
}

}  // namespace
}  // namespace lu

int main(int argc, char** argv) {
  try {
    return lu::run_as_node(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "lu: this machine has no memory left; choose a smaller matrix\n");
    return 1;
  }
}
