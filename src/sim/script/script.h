#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/program.h"

namespace terrane::sim {

// One line of a script that does something. It ends when nothing that it has caused can continue.
struct Statement {
  enum class Kind : std::uint8_t {
    kOperation,  // the next operation of each of `threads`
    kContinue,   // `threads` perform the step before which they stopped, and go on
    kHold,       // messages from node `from` to node `to` stay under way
    kDeliver,    // ... and are delivered
  };

  Kind kind = Kind::kOperation;
  std::uint32_t line = 0;  // in the file, from 0
  std::vector<std::uint32_t> threads;
  std::string stop;       // the kind of step before which the threads stop; empty: they do not
  bool parallel = false;  // runs together with its parallel neighbours, in a random order
  std::uint32_t from = 0, to = 0;

  bool traced = false;                // its trace is compared
  std::vector<std::string> selected;  // the compared steps: kinds of steps, messages, events
  std::vector<std::string> expected;  // the lines of the file behind it, without the sign ">"
};

// A program for the simulator that a person has written, with its expected results. The language:
// docs/design/simulator.md.
struct Script {
  std::string file;                // its name, for messages
  std::vector<std::string> lines;  // as they were read
  Program program;
  std::vector<Statement> statements;
  std::uint32_t orders = 1;     // how many orders of its parallel sections are tried
  std::string mutant = "None";  // the planted fault
  std::string fails = "None";   // the fault with which it must fail
};

// Reads a script. `file` is named in the error, which says the line and what was expected there.
base::Result<Script> parse_script(std::string file, std::string_view text);

struct ScriptReport {
  std::string failure;             // what the script did not expect; empty: nothing
  bool broke_a_rule = false;       // the failure is a violation, not a different trace
  std::vector<std::string> trace;  // all steps of the order that failed, or of the first one
  std::string updated;             // the script's text with the traces that were found
};

ScriptReport run_script(const Script& script);

}  // namespace terrane::sim
