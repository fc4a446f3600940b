#include "options.h"

#include "matrix.h"
#include "support/number.h"
#include "support/read_options.h"

namespace lu {

const char* const kUsage =
    "Usage: terrane run -n NODES lu [OPTIONS] MATRIX\n"
    "       terrane run -n NODES lu [OPTIONS] --generate N\n"
    "Solves A x = b by LU factorisation with partial pivoting, on all nodes. MATRIX is a Matrix\n"
    "Market file: coordinate or array; real, integer or pattern; general, symmetric or skew.\n"
    "\n"
    "  --rhs FILE       b, a Matrix Market file of one column (default: all ones)\n"
    "  --generate N     make an N x N matrix instead\n"
    "  --density D      of the generated matrix: share of places with an entry (default 1)\n"
    "  --seed S         of the generated matrix (default 1)\n"
    "  --write FILE     write the matrix there too\n"
    "  --output FILE    write x there\n"
    "  --threads T      threads on each node, 1 to 256 (default 1)\n"
    "  --compare        factor once more by one thread in private memory; compare bit for bit\n"
    "  --help           print this\n";

namespace {

using example::parse_number;

constexpr struct option kLongOptions[] = {
    {"rhs", required_argument, nullptr, 'r'},     {"generate", required_argument, nullptr, 'g'},
    {"density", required_argument, nullptr, 'd'}, {"seed", required_argument, nullptr, 's'},
    {"write", required_argument, nullptr, 'w'},   {"output", required_argument, nullptr, 'o'},
    {"threads", required_argument, nullptr, 't'}, {"compare", no_argument, nullptr, 'c'},
    {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0}};

Outcome<> take_number(bool taken, const char* option, const char* wanted) {
  if (taken) return success();
  return Failure{std::string("'") + optarg + "' is no value for " + option + "; give " + wanted};
}

// Stores the value of one option; the sentence otherwise.
Outcome<> take_option(int option, Options& options) {
  switch (option) {
    case 'h':
      options.help = true;
      break;
    case 'c':
      options.compare = true;
      break;
    case 'r':
      options.rhs = optarg;
      break;
    case 'o':
      options.output = optarg;
      break;
    case 'w':
      options.write = optarg;
      break;
    case 'g':
      return take_number(parse_number<std::uint32_t>(optarg, 1, kMaxSize, options.generate),
                         "--generate", "a whole number from 1 to 20000");
    case 'd':
      return take_number(parse_number<double>(optarg, 0, 1, options.density), "--density",
                         "a number from 0 to 1");
    case 's':
      return take_number(parse_number<std::uint64_t>(optarg, 0, UINT64_MAX, options.seed), "--seed",
                         "a whole number");
    default:
      return take_number(parse_number<std::uint32_t>(optarg, 1, 256, options.threads), "--threads",
                         "a whole number from 1 to 256");
  }
  return success();
}

Outcome<> take_matrix(int argc, char** argv, Options& options) {
  if (options.generate != 0) {
    if (optind == argc) return success();
    return Failure{std::string("'") + argv[optind] + "' and --generate: one matrix at a time"};
  }
  Outcome<std::string> word = example::only_word(argc, argv, "matrix");
  if (!word.ok()) return Failure{word.sentence()};
  options.matrix = word.value();
  return success();
}

}  // namespace

Outcome<Options> parse_options(int argc, char** argv) {
  Options options;
  Outcome<> read = example::read_options(argc, argv, kLongOptions,
                                         [&](int option) { return take_option(option, options); });
  if (!read.ok()) return Failure{read.sentence()};
  if (options.help) return options;
  Outcome<> taken = take_matrix(argc, argv, options);
  if (!taken.ok()) return Failure{taken.sentence()};
  return options;
}

}  // namespace lu
