#pragma once

#include <cstddef>
#include <string>

#include "bootstrap/bootstrap.h"
#include "runtime/engine.h"
#include "runtime/options.h"
#include "runtime/page_space.h"
#include "runtime/program_names.h"
#include "runtime/race_report.h"

namespace terrane::runtime {

// The report of --check=races of a job: every node tells all others what its homes have found, and
// node 0 writes it.
class RaceReporter {
 public:
  static constexpr int kExitRaces = 66;

  void begin(const Options& options) {
    output_ = options.check_output;
    fails_ = options.check_fails;
    looks_ = options.check_races;
  }
  // Collective, when all nodes have released what they wrote, by a thread on its own stack. Does
  // nothing if homes do not look for races. names: of the program; without, variables are named by
  // their allocations alone.
  void report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
              const ProgramNames& names);
  // On node 0, after report(): the exit code of a program that ends with `code`.
  int exit_code(int code) const { return code == 0 && fails_ && found_ > 0 ? kExitRaces : code; }

 private:
  void write(const std::vector<RaceLine>& lines, std::uint64_t left_out, bool with_reads) const;

  std::string output_;  // the file for programs; empty: none
  bool fails_ = false, looks_ = false;
  std::size_t found_ = 0;
};

}  // namespace terrane::runtime
