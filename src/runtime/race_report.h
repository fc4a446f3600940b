#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/races/access_check.h"
#include "runtime/home_check.h"
#include "runtime/program_names.h"

namespace terrane::runtime {

// Races of a job that are one line of its report: in one variable, of the same two nodes.
struct RaceLine {
  std::string variable;
  std::uint64_t first = 0;  // offset in the variable of the first byte
  std::uint64_t end = 0;    // behind the last one
  std::uint64_t times = 0;  // pairs of changes
  std::uint32_t nodes[2] = {};
  bool same_value = false;
  bool writes[2] = {true, true};  // what each node does
  // Where the first such accesses are in the program; empty: that is not known.
  std::string places[2];
};

// The lines of the records of all nodes, in the order of their variables. variable: that holds the
// record's first byte.
std::vector<RaceLine> race_lines(std::span<const RaceRecord> records,
                                 const std::function<NamedVariable(const RaceRecord&)>& variable);

// Adds the races of accesses to the lines. One of two writes belongs to a line of the same variable
// and nodes that is there. variable: that holds the byte at an offset of shared memory. place: of
// an instruction.
void add_accesses(std::span<const protocol::AccessRace> races,
                  const std::function<NamedVariable(std::uint64_t offset)>& variable,
                  const std::function<std::string(std::uint64_t code)>& place,
                  std::vector<RaceLine>& lines);

// How many of the lines are races of different values: those that a program must not have.
std::size_t count_races(std::span<const RaceLine> lines);

// A sentence for each line, and one for all. left_out: pairs that belong to no line. with_reads:
// reads were looked at, too.
std::vector<std::string> race_sentences(std::span<const RaceLine> lines, std::uint64_t left_out,
                                        bool with_reads = false);

// The same for programs: {"races": [...], "left_out": N}.
std::string race_json(std::span<const RaceLine> lines, std::uint64_t left_out);

}  // namespace terrane::runtime
