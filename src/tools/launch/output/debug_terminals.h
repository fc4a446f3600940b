#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/spawn.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// The command that shows the debugger of the node that is process `pid` on `host` of the plan's
// map, in words: the plan's terminal, what reaches another host, the debugger.
std::vector<std::string> debugger_command(const JobPlan& plan, std::uint32_t host, pid_t pid);

// Opens a terminal with a debugger for each node that waits for one. Owns the processes, which end
// with this one.
class DebugTerminals {
 public:
  // `on_failed` gets a sentence when a terminal has failed before its node has joined the job. All
  // outlive it.
  DebugTerminals(const JobPlan& plan, Children& children, const Inheritance& inheritance,
                 std::function<bool(NodeId)> has_joined,
                 std::function<void(const std::string&)> on_failed)
      : plan_(plan),
        children_(children),
        inheritance_(inheritance),
        has_joined_(std::move(has_joined)),
        on_failed_(std::move(on_failed)) {}

  void open(NodeId node, std::uint32_t host, pid_t pid);

 private:
  void ended(NodeId node, std::uint32_t host, pid_t pid, int status);

  const JobPlan& plan_;
  Children& children_;
  const Inheritance& inheritance_;
  std::function<bool(NodeId)> has_joined_;
  std::function<void(const std::string&)> on_failed_;
};

}  // namespace terrane::tools
