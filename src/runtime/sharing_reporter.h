#pragma once

#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "runtime/engine.h"
#include "runtime/options.h"
#include "runtime/page_space.h"
#include "runtime/program_names.h"
#include "runtime/sharing_report.h"
#include "runtime/slow_report.h"

namespace terrane::runtime {

// The reports of what was slow in a job (--stats) and which pages were shared (--check=sharing):
// every node tells all others what it has seen, and node 0 writes it.
class SharingReporter {
 public:
  static constexpr int kExitShares = 66;

  explicit SharingReporter(const Options& options) {
    if (!options.check_sharing) return;
    output_ = options.check_output;
    fails_ = options.check_fails;
  }
  // Collective, as RaceReporter::report. times: of this node. watch: nullptr without
  // --check=sharing.
  void report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
              const ProgramNames& names, const NodeTimes& times, SharingWatch* watch);
  // On node 0, after report(): the exit code of a program that ends with `code`.
  int exit_code(int code) const { return code == 0 && fails_ && found_ > 0 ? kExitShares : code; }

 private:
  std::string output_;  // the file for programs; empty: none
  bool fails_ = false;
  std::size_t found_ = 0;
};

}  // namespace terrane::runtime
