// Restores a damaged photograph on all nodes of a job: plain loads and stores on shared memory,
// barriers, no messages.
#include <terrane/pages.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "damage.h"
#include "options.h"
#include "picture_file.h"
#include "prepare.h"
#include "report.h"
#include "shared_solver.h"
#include "support/breakdown.h"

namespace restore {
namespace {

// What node 0 tells the others: written by node 0 alone, read by all after a barrier.
struct Header {
  int failed;
  std::uint32_t width, height, channels;
};

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsageError = 2;

bool first_node() { return terrane_node() == 0; }

int complain(const std::string& sentence, int status) {
  if (first_node()) std::fprintf(stderr, "restore: %s\n", sentence.c_str());
  return status;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct SharedResult {
  Convergence convergence;
  std::vector<std::uint8_t> samples;  // on node 0
  double seconds = 0;                 // from the damaged bytes to the restored ones, both at node 0
};

void print_task(const Options& options, const Prepared& prepared) {
  const Image& image = prepared.original;
  const double damaged = static_cast<double>(count_damaged(prepared.mask));
  std::printf("%s: %u x %u pixels, %s, %.1f %% damaged; %d node%s x %u thread%s\n",
              options.photograph.c_str(), image.width, image.height,
              image.channels == 3 ? "colour" : "grey",
              100 * damaged / static_cast<double>(prepared.mask.size()), terrane_nodes(),
              terrane_nodes() == 1 ? "" : "s", options.threads, options.threads == 1 ? "" : "s");
  std::fflush(stdout);
}

// Collective. Node 0's clock spans the work of all nodes and the way of the result back to node 0.
SharedResult restore_together(const Options& options, const Damaged& picture,
                              const SharedPicture& shared) {
  SharedResult result;
  Watcher watch;
  Progress progress;
  if (first_node()) watch = [&](const Convergence& state) { progress.show(state); };
  terrane_counters before{};
  terrane_counters after{};
  terrane_read_counters(&before);
  const auto start = std::chrono::steady_clock::now();
  result.convergence = solve_shared(picture, options.solver, shared, options.threads, watch);
  progress.finish();
  if (first_node()) {
    result.samples.assign(shared.restored, shared.restored + picture.total_samples());
  }
  result.seconds = seconds_since(start);
  terrane_read_counters(&after);
  shared.counters[terrane_node()] = example::spent_between(before, after);
  terrane_barrier();
  return result;
}

// Node 0: the same solver by one thread in private memory must have found the same bits.
Outcome<> verify(const SharedResult& together, const SerialResult& serial,
                 const SharedPicture& shared) {
  if (together.convergence.iterations != serial.convergence.iterations) {
    return Failure{"the nodes needed " + std::to_string(together.convergence.iterations) +
                   " iterations and one thread " + std::to_string(serial.convergence.iterations) +
                   ": shared memory lost a value; please report this"};
  }
  const double* const solution = serial.convergence.iterations % 2 == 1 ? shared.b : shared.a;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < serial.solution.size(); ++i) {
    wrong += std::memcmp(&solution[i], &serial.solution[i], sizeof(double)) != 0 ? 1 : 0;
  }
  if (wrong == 0 && together.samples == serial.samples) return success();
  return Failure{"the result differs from one thread's in " + std::to_string(wrong) + " of " +
                 std::to_string(serial.solution.size()) +
                 " values: shared memory lost a value; please report this"};
}

void print_results(const Options& options, const Prepared& prepared, const SharedResult& together,
                   const SerialResult& serial, const SharedPicture& shared) {
  const Convergence& end = together.convergence;
  std::printf("%s after %u iterations (largest change %g)\n",
              end.converged ? "converged" : "stopped by --iterations, not converged,",
              end.iterations, end.change);
  std::printf("time %.3f s, serial time %.3f s, speed-up %.2f\n", together.seconds, serial.seconds,
              serial.seconds / together.seconds);
  std::printf("PSNR %.2f dB damaged, %.2f dB restored\n",
              psnr(prepared.original, prepared.damaged.samples),
              psnr(prepared.original, together.samples));
  example::print_breakdown(shared.counters, terrane_nodes(), options.threads);
}

// Node 0, after the work: checks, tells, writes the picture.
Outcome<> conclude(const Options& options, const Prepared& prepared, SharedResult& together,
                   const SharedPicture& shared) {
  const Image& damaged = prepared.damaged;
  const Damaged picture{damaged.width, damaged.height, damaged.channels, damaged.samples.data(),
                        prepared.mask.data()};
  const SerialResult serial = solve_serial(picture, options.solver);
  Outcome<> verified = verify(together, serial, shared);
  if (!verified.ok()) return verified;
  print_results(options, prepared, together, serial, shared);
  std::printf("\nverified: identical to the serial result, bit for bit\n");

  Image restored(damaged.width, damaged.height, damaged.channels);
  restored.samples = std::move(together.samples);
  Outcome<> written = write_png(options.output + "/restored.png", restored);
  if (!written.ok()) return written;
  std::printf("wrote %s/damaged.png and %s/restored.png\n", options.output.c_str(),
              options.output.c_str());
  return success();
}

// Node 0 reads the files; every node returns whether all is well, and the picture's size in
// `header`.
std::optional<Prepared> prepare_on_first_node(const Options& options, Header* header) {
  std::optional<Prepared> prepared;
  if (first_node()) {
    Outcome<Prepared> outcome = prepare(options);
    if (outcome.ok()) {
      prepared = std::move(outcome.value());
      header->width = prepared->original.width;
      header->height = prepared->original.height;
      header->channels = prepared->original.channels;
      print_task(options, *prepared);
    } else {
      header->failed = complain(outcome.sentence(), kFailed);
    }
  }
  terrane_barrier();
  return prepared;
}

// Between terrane_init and terrane_finalize, on every node; returns the exit status.
int run(const Options& options) {
  auto* const header = static_cast<Header*>(terrane_alloc_all(sizeof(Header), nullptr));
  if (header == nullptr) return complain(terrane_error(), kFailed);
  const std::optional<Prepared> prepared = prepare_on_first_node(options, header);
  if (header->failed != 0) return header->failed;

  const std::uint32_t workers = static_cast<std::uint32_t>(terrane_nodes()) * options.threads;
  Outcome<SharedPicture> allocated =
      allocate_shared(header->width, header->height, header->channels, workers);
  if (!allocated.ok()) return complain(allocated.sentence(), kFailed);
  const SharedPicture& shared = allocated.value();
  if (prepared) publish(prepared->damaged, prepared->mask, workers, shared);
  terrane_barrier();

  const Damaged picture{header->width, header->height, header->channels, shared.samples,
                        shared.mask};
  SharedResult together = restore_together(options, picture, shared);
  if (prepared) {
    Outcome<> concluded = conclude(options, *prepared, together, shared);
    if (!concluded.ok()) header->failed = complain(concluded.sentence(), kFailed);
  }
  terrane_barrier();
  return header->failed;
}

int run_as_node(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) {
    std::fprintf(stderr, "restore: %s\n", terrane_error());
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
}  // namespace restore

int main(int argc, char** argv) {
  try {
    return restore::run_as_node(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "restore: this machine has no memory left; choose a smaller photograph\n");
    return 1;
  }
}
