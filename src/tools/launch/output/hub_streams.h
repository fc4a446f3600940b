#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/output/pipe_pump.h"

namespace terrane::tools {

// The hub's end of the streams of other hosts: their output goes to a process that writes it
// (output_process.h), and this process's input to the host of node 0, each no faster than the other
// end takes it. Owns the pipes.
class HubStreams {
 public:
  using Tell = std::function<void(std::uint32_t host, const HostCommand&)>;

  using OnFailure = std::function<void(const std::string& sentence)>;

  // on_failure: the output cannot be written.
  HubStreams(Loop& loop, Children& children, int nice, Tell tell, OnFailure on_failure)
      : loop_(loop),
        children_(children),
        nice_(nice),
        tell_(std::move(tell)),
        on_failure_(std::move(on_failure)) {}

  // `hosts`: those whose output comes here. `tagged`: it comes in whole lines, and is written so.
  base::Result<> open(const std::vector<std::uint32_t>& hosts, bool tagged);
  void carry_input(base::UniqueFd input, std::uint32_t host);

  void take_output(std::uint32_t host, const event::Output& output);
  void input_taken(std::uint32_t bytes);
  // No more output comes from the host.
  void finish_output(std::uint32_t host);
  void finish();
  void kill_output();
  // Everything is written.
  bool finished() const { return process_ == 0; }
  pid_t process() const { return process_; }

 private:
  struct Output {
    std::uint32_t host;
    bool is_error;
    std::unique_ptr<StreamWriter> writer;
  };

  Loop& loop_;
  Children& children_;
  int nice_;  // the priority of the process that writes
  Tell tell_;
  OnFailure on_failure_;
  pid_t process_ = 0;
  std::vector<Output> outputs_;
  std::unique_ptr<StreamReader> input_;
};

}  // namespace terrane::tools
