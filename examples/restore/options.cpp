#include "options.h"

#include <cfloat>

#include "support/number.h"
#include "support/read_options.h"

namespace restore {

const char* const kUsage =
    "Usage: terrane run -n NODES restore [OPTIONS] PHOTOGRAPH\n"
    "Restores a damaged photograph (8-bit PNG, PPM or PGM): solves Laplace's equation over the\n"
    "damaged pixels, on all nodes, and compares with one thread's result bit for bit.\n"
    "\n"
    "  --damage SEED       damage the photograph first: scratches, blots, writing (default: seed "
    "1)\n"
    "  --mask FILE         damaged is what is light in this picture of the same size\n"
    "  --output DIR        where damaged.png and restored.png go (default: here)\n"
    "  --threads T         threads on each node, 1 to 256 (default 1)\n"
    "  --tolerance X       stop when no pixel changes by more, white being 255 (default 0.0001)\n"
    "  --check-every K     iterations between two convergence tests (default 50)\n"
    "  --iterations MAX    stop after so many iterations at the latest (default 20000)\n"
    "  --help              print this\n";

namespace {

using example::parse_number;

constexpr struct option kLongOptions[] = {{"damage", required_argument, nullptr, 'd'},
                                          {"mask", required_argument, nullptr, 'm'},
                                          {"output", required_argument, nullptr, 'o'},
                                          {"threads", required_argument, nullptr, 't'},
                                          {"tolerance", required_argument, nullptr, 'e'},
                                          {"check-every", required_argument, nullptr, 'k'},
                                          {"iterations", required_argument, nullptr, 'i'},
                                          {"help", no_argument, nullptr, 'h'},
                                          {nullptr, 0, nullptr, 0}};

Failure bad_value(const char* option, const char* wanted) {
  return Failure{std::string("'") + optarg + "' is no value for " + option + "; give " + wanted};
}

// Stores the value of one option; the sentence otherwise.
Outcome<> take_option(int option, Options& options) {
  constexpr std::uint32_t kMost = 1'000'000'000;
  switch (option) {
    case 'h':
      options.help = true;
      return success();
    case 'm':
      options.mask = optarg;
      return success();
    case 'o':
      options.output = optarg;
      return success();
    case 'd':
      if (parse_number<std::uint64_t>(optarg, 0, UINT64_MAX, options.seed)) return success();
      return bad_value("--damage", "a whole number, the seed");
    case 't':
      if (parse_number<std::uint32_t>(optarg, 1, 256, options.threads)) return success();
      return bad_value("--threads", "a whole number from 1 to 256");
    case 'e':
      if (parse_number<double>(optarg, 0, DBL_MAX, options.solver.tolerance)) return success();
      return bad_value("--tolerance", "a number from 0, such as 0.0001");
    case 'k':
      if (parse_number<std::uint32_t>(optarg, 1, kMost, options.solver.check_every))
        return success();
      return bad_value("--check-every", "a whole number from 1");
    default:
      if (parse_number<std::uint32_t>(optarg, 1, kMost, options.solver.max_iterations)) {
        return success();
      }
      return bad_value("--iterations", "a whole number from 1");
  }
}

}  // namespace

Outcome<Options> parse_options(int argc, char** argv) {
  Options options;
  Outcome<> read = example::read_options(argc, argv, kLongOptions,
                                         [&](int option) { return take_option(option, options); });
  if (!read.ok()) return Failure{read.sentence()};
  if (options.help) return options;
  Outcome<std::string> word = example::only_word(argc, argv, "photograph");
  if (!word.ok()) return Failure{word.sentence()};
  options.photograph = word.value();
  return options;
}

}  // namespace restore
