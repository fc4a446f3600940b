#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "forecast/forecast.h"
#include "tools/advise/recorded_program.h"

namespace terrane::tools::advise {

// What is asked about.
struct Question {
  double round_trip_us = 60;  // of a message between two nodes, as ping says it
  double bytes_per_second = 1.17e9;
  std::uint32_t processors = 1;    // of a node
  std::uint64_t memory_bytes = 0;  // of a node; 0: not known
};

// Something that threads wait for, and what helps.
struct Matter {
  std::string name;  // of memory or of a lock
  std::string what;  // how nodes use it
  std::string remedy;
  std::uint64_t page = 0;       // of memory: the one that comes most often
  std::uint64_t waited_ns = 0;  // by all threads
  std::uint64_t times = 0;      // that pages came, or that the lock was taken
  double share = 0;             // of the time of the threads that compute
};

// The program on so many nodes.
struct Point {
  std::uint32_t nodes = 1;
  std::uint64_t ns = 0;
  double speedup = 0;  // over one node with one processor
  // Shares of the processors' time: in use, or idle since threads wait for that. 1 together.
  double computing = 0, faults = 0, locks = 0, barriers = 0, others = 0;
  std::uint64_t messages = 0, bytes = 0;  // of all nodes
  std::uint64_t most_bytes = 0;           // of shared pages, that one node holds
};

struct Advice {
  std::vector<Point> points;     // by number of nodes, from 1
  std::size_t best = 0;          // the fastest of them
  std::string limit;             // a sentence: what keeps that from being faster
  std::vector<Matter> matters;   // what cost most there, at most three
  std::uint64_t used_bytes = 0;  // of shared pages, by all threads
};

// Plays the program on 1, 2, 4, ... nodes, and on as many as recorded it. An error says which
// threads wait for ever.
base::Result<Advice> advise(RecordedProgram& program, const Question& question);

// A page for people, and the same for programs (JSON, one line).
std::string as_text(const Advice& advice, const RecordedProgram& program, const Question& question);
std::string as_json(const Advice& advice, const Question& question);

}  // namespace terrane::tools::advise
