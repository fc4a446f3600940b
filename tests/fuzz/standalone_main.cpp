// Runs a fuzz target without a fuzzing engine: its seeds, then mutations of them, each decided by
// the seed and its number alone, so that a failure can be run again.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/mutate.h"

namespace {

using namespace terrane;

constexpr const char* kUsage =
    "Usage: NAME [--runs N] [--seed S] [--first I]   run mutations I .. I + N - 1 of seed S\n"
    "       NAME --write-seeds FOLDER                write the inputs to begin from\n"
    "       NAME FILE...                             run these inputs\n";

struct Options {
  std::uint64_t runs = 20000, seed = 1, first = 0;
};

// Reported by the signal handler when the target ends the process.
Options running;
volatile std::sig_atomic_t tell = 0;

void say_which_run(int number) {
  if (tell != 0) {
    char text[160];
    int size = std::snprintf(text, sizeof text, "again by: --seed %llu --first %llu --runs 1\n",
                             static_cast<unsigned long long>(running.seed),
                             static_cast<unsigned long long>(running.first));
    [[maybe_unused]] auto ignored = ::write(STDERR_FILENO, text, static_cast<std::size_t>(size));
  }
  std::signal(number, SIG_DFL);
  std::raise(number);
}

bool parse(const char* text, std::uint64_t& out) {
  const char* end = text + std::strlen(text);
  auto [stopped, error] = std::from_chars(text, end, out);
  return error == std::errc{} && stopped == end;
}

int write_seeds(const std::string& folder) {
  std::size_t number = 0;
  for (const fuzz::Input& input : fuzz::seeds()) {
    std::ofstream file(fmt::format("{}/seed_{}", folder, number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    if (!file) {
      fmt::print(stderr, "{}: the seeds could not be written\n", folder);
      return 1;
    }
  }
  return 0;
}

int run_files(int count, char** paths) {
  for (int i = 0; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    if (!file) {
      fmt::print(stderr, "{}: could not be opened\n", paths[i]);
      return 1;
    }
    std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    fuzz::run_one(std::as_bytes(std::span(bytes)));
  }
  fmt::print("{} inputs run\n", count);
  return 0;
}

int run_mutations(const Options& options) {
  std::vector<fuzz::Input> seeds = fuzz::seeds();
  if (options.first == 0) {
    for (const fuzz::Input& seed : seeds) fuzz::run_one(seed);
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, say_which_run);
  tell = 1;
  running = options;
  for (; running.first < options.first + options.runs; ++running.first) {
    base::Prng prng(options.seed * 0x9e3779b97f4a7c15u + running.first);
    fuzz::run_one(fuzz::mutated(seeds, prng));
  }
  fmt::print("{} seeds and {} mutations run\n", seeds.size(), options.runs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--write-seeds") == 0) return write_seeds(argv[2]);
  if (argc > 1 && argv[1][0] != '-') return run_files(argc - 1, argv + 1);
  Options options;
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    std::uint64_t* out = name == "--runs"    ? &options.runs
                         : name == "--seed"  ? &options.seed
                         : name == "--first" ? &options.first
                                             : nullptr;
    if (out == nullptr || i + 1 == argc || !parse(argv[i + 1], *out)) {
      std::fputs(kUsage, stderr);
      return 2;
    }
  }
  return run_mutations(options);
}
