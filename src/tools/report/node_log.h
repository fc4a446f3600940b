#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/trace/log_format.h"

namespace terrane::tools::report {

using runtime::trace::Event;
using runtime::trace::Record;

// An object as a log names it.
struct Object {
  std::string name;  // any bytes
  std::uint64_t bytes = 0;
  std::uint8_t kind = 0;
};

struct Entry {
  Record record;
  std::uint32_t thread = 0;
};

// An event with a text, other than the name of a chunk or a thread.
struct TextEntry {
  Record record;
  std::string text;  // any bytes
};

// The event log of one node: everything that can be read of it.
struct NodeLog {
  std::string path, host;
  std::vector<std::string> command;  // the program's words; empty if the log has none
  std::uint32_t node = 0, nodes = 0;
  std::uint64_t monotonic_ns = 0, realtime_ns = 0;  // one moment by two clocks
  std::vector<Entry> entries;                       // by time, but for names and the like
  std::vector<TextEntry> texts;
  std::string job;          // "": the log does not say which
  bool has_strips = false;  // it is of shared pages or OpenSHMEM, not of chunks
  bool is_shmem = false;    // it is of OpenSHMEM
  std::map<std::uint64_t, Object> objects;
  std::map<std::uint32_t, std::string> threads;
  std::map<std::uint16_t, std::string> events;
  std::uint32_t scopes_every = 1;  // one of so many that opened at once has a record, in the mean
  bool ended = false;              // the node left the job in order
  std::string left_out;            // a sentence about an end that cannot be read; "" if all can
};

// `path` is for sentences. Fails on what is no log that this version reads; a log that breaks off
// is read up to there.
base::Result<NodeLog> parse_log(std::span<const std::byte> bytes, const std::string& path);
base::Result<NodeLog> read_log(const std::string& path);

}  // namespace terrane::tools::report
