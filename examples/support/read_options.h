#pragma once

#include <getopt.h>

#include <string>

#include "support/outcome.h"

namespace example {

// Gives each option of the command line to take(option), which finds its value in `optarg` and says
// whether it is good. After that, `optind` is the first word that is no option. An option that is
// not known, or lacks its value, is a Failure that names it.
template <typename Take>
Outcome<> read_options(int argc, char** argv, const option* known, Take take) {
  optind = 0;  // getopt starts anew
  opterr = 0;  // the sentences are ours
  for (;;) {
    const int option = getopt_long(argc, argv, ":", known, nullptr);
    if (option == -1) return success();
    if (option == '?') {
      const std::string name = optopt != 0 ? std::string("-") + static_cast<char>(optopt)
                                           : std::string(argv[optind - 1]);
      return Failure{"unknown option '" + name + "'; --help lists the options"};
    }
    if (option == ':') {
      return Failure{std::string("option '") + argv[optind - 1] +
                     "' needs a value; --help says which"};
    }
    Outcome<> taken = take(option);
    if (!taken.ok()) return taken;
  }
}

// The one word that is no option, which is to name a `what`; see read_options().
inline Outcome<std::string> only_word(int argc, char** argv, const std::string& what) {
  if (optind == argc) return Failure{"no " + what + " named; --help shows how to name one"};
  if (optind + 1 < argc) {
    return Failure{"one " + what + " at a time: '" + argv[optind + 1] + "' is one too many"};
  }
  return std::string(argv[optind]);
}

}  // namespace example
