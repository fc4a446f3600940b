#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace terrane::tools {

// The nodes' standard output and error as pipes, written on line by line with "[node] " in front.
// The work is done by a process of its own, because a reader of our output that stops reading must
// stop the nodes' output, never the launcher. A line is never torn, and lines of different nodes
// never run into each other; a line of more than kMaxLine bytes is cut into lines of that length.
// Owns the pipes.
class TaggedOutput {
 public:
  static constexpr std::size_t kMaxLine = 1u << 20;

  explicit TaggedOutput(std::uint32_t nodes) : pipes_(2 * std::size_t{nodes}) {}

  base::Result<> open();
  int output_of(std::uint32_t node) const { return pipes_[2 * node].write.get(); }
  int error_of(std::uint32_t node) const { return pipes_[2 * node + 1].write.get(); }
  // Forks the process that does the work; it ends when every pipe has ended.
  base::Result<pid_t> start();
  // To be called once the nodes have their ends: ours would keep the pipes alive.
  void close_nodes_ends() { pipes_.clear(); }

 private:
  struct Pipe {
    base::UniqueFd read, write;
  };
  std::vector<Pipe> pipes_;
};

// Cuts a stream into tagged lines.
class LineTagger {
 public:
  explicit LineTagger(std::uint32_t node);

  // Appends what is complete to `out`; keeps the rest.
  void add(std::string_view text, std::string& out);
  // The stream has ended: the rest becomes a line.
  void finish(std::string& out);

 private:
  void put_line(std::string_view line, std::string& out);

  std::string tag_;
  std::string rest_;
};

}  // namespace terrane::tools
