#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "tools/launch/host/agent_command.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/spawn.h"
#include "tools/launch/output/pipe_pump.h"

namespace terrane::tools {

// A running agent: ssh, mpirun or srun, which starts engines on other hosts and is done when they
// are. Owns the process, and keeps the last of what it writes.
class Agent {
 public:
  // Calls `on_end` with the wait status once the process has ended and what it wrote is read.
  static base::Result<std::unique_ptr<Agent>> start(Loop& loop, Children& children,
                                                    const Inheritance& inheritance,
                                                    AgentCommand command,
                                                    std::function<void(int status)> on_end);

  const AgentCommand& command() const { return command_; }
  const std::string& said() const { return said_; }
  pid_t pid() const { return pid_; }  // 0: ended
  void signal(int number);
  // Ends its standard input: engines that have not found the hub yet give up.
  void hang_up() { writer_->close(); }

 private:
  Agent(Loop& loop, AgentCommand command, std::function<void(int)> on_end)
      : loop_(loop), command_(std::move(command)), on_end_(std::move(on_end)) {}

  base::Result<> spawn(Children& children, const Inheritance& inheritance);
  void ended(int status);

  Loop& loop_;
  AgentCommand command_;
  std::function<void(int)> on_end_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool reaped_ = false;
  std::string said_;
  std::unique_ptr<StreamReader> reader_;
  std::unique_ptr<StreamWriter> writer_;
};

}  // namespace terrane::tools
