#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace terrane::sim {

// One step of a history.
struct TraceStep {
  std::uint64_t at = 0;  // how often an actor had acted before
  std::string actor;     // "node 1 thread 3", "node 0 handler 2", "node 2"
  std::string kind;      // "CopyHome", "Call", "receives", "fault"
  std::string name;      // of the event, message or operation: "lock grant", "read"; may be empty
  std::string block;     // "r0[1]", or empty
  std::string detail;    // "at node 0", or empty
  std::string result;    // empty: the step has none

  // In columns, without `at`.
  std::string text() const {
    std::string step = name.empty() ? kind : fmt::format("{} {}", kind, name);
    std::string line = fmt::format("{:<18} {:<22} {:<9} {}", actor, step, block, detail);
    line.erase(line.find_last_not_of(' ') + 1);
    return result.empty() ? line : fmt::format("{} -> {}", line, result);
  }
};

// What happened in one history, step by step. Exists only if a person or a test reads it.
class Trace {
 public:
  void add(TraceStep step) { steps_.push_back(std::move(step)); }
  // Adds a step that is given as "ACTOR: TEXT".
  template <typename... Args>
  void add(std::uint64_t at, fmt::format_string<Args...> format, Args&&... args) {
    std::string text = fmt::format(format, std::forward<Args>(args)...);
    std::size_t colon = text.find(": ");
    if (colon == std::string::npos) {
      steps_.push_back({.at = at, .kind = std::move(text)});
    } else {
      steps_.push_back({.at = at, .actor = text.substr(0, colon), .kind = text.substr(colon + 2)});
    }
  }

  const std::vector<TraceStep>& steps() const { return steps_; }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const TraceStep& step : steps_)
      lines.push_back(fmt::format("{:6} {}", step.at, step.text()));
    return lines;
  }
  void clear() { steps_.clear(); }

 private:
  std::vector<TraceStep> steps_;
};

}  // namespace terrane::sim
