#pragma once

#include "runtime/node.h"
#include "runtime/options.h"
#include "runtime/page_trace.h"

namespace terrane::runtime {

// What a node with shared pages reports: it has the counters that the reports need, its event log
// (--report), and writes at the end of the job which locks, pages, homes and bytes cost what. Node
// 0 names them for all.
struct NodeReport {
  enum Wanted : unsigned { kPrinted = 1, kLogged = 2 };  // --stats, --report

  // Before the node's threads count. An error if the event log cannot be written.
  static base::Result<> begin(Node& node, const Options& options);
  // Before threads of the program run (TERRANE_RECORD).
  static base::Result<> begin_recording(Node& node, const Options& options);
  // Collective, as RaceReporter::report.
  static void end(Node& node, const ProgramNames& names);
  static unsigned wanted(const Node& node);
  // nullptr: there is no --report.
  static PageTrace* trace(const Node& node);

 private:
  static void write(Node& node, trace::EventLog& log, const ProgramNames& names);
};

}  // namespace terrane::runtime
