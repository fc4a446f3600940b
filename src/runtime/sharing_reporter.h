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
#include "runtime/trace/event_log.h"

namespace terrane::runtime {

// The reports of what was slow in a job (--stats) and which pages were shared (--check=sharing),
// and both for the page of --report: every node tells all others what it has seen, and node 0
// writes it.
class SharingReporter {
 public:
  static constexpr int kExitShares = 66;

  explicit SharingReporter(const Options& options)
      : checks_(options.check_sharing), has_stats_(options.stats) {
    if (!options.check_sharing) return;
    output_ = options.check_output;
    fails_ = options.check_fails;
  }
  // Collective, as RaceReporter::report. times: of this node. watch: nullptr without
  // --check=sharing and --report. log: of --report; node 0 writes what it finds there, too;
  // nullptr: none.
  void report(bootstrap::Bootstrap& job, PageSpace& space, Engine& engine,
              const ProgramNames& names, const NodeTimes& times, SharingWatch* watch,
              trace::EventLog* log);
  // On node 0, after report(): the exit code of a program that ends with `code`.
  int exit_code(int code) const { return code == 0 && fails_ && found_ > 0 ? kExitShares : code; }

 private:
  bool checks_, has_stats_;
  std::string output_;  // the file for programs; empty: none
  bool fails_ = false;
  std::size_t found_ = 0;
};

}  // namespace terrane::runtime
