#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/output/pipe_pump.h"

namespace terrane::tools {

// A host's end of the streams that it has in common with the hub: what its nodes write goes there,
// and node 0's input comes from there, each no faster than the other end takes it. Owns the pipes.
class HostStreams {
 public:
  using Report = std::function<void(HostEvent)>;

  HostStreams(Loop& loop, Report report) : loop_(loop), report_(std::move(report)) {}

  base::Result<> open();
  // What the nodes inherit; until close_nodes_ends().
  int output() const { return output_end_.get(); }
  int error() const { return error_end_.get(); }
  // The reading end of a pipe that is fed by Input commands.
  base::Result<base::UniqueFd> open_input();
  void close_nodes_ends();

  void act(const HostCommand& command);
  // The writer has gone: calls `done` once the rest was reported.
  void finish(std::function<void()> done);
  // The rest is dropped.
  void drop();

 private:
  void on_output(bool is_error, std::string bytes);
  void maybe_done();

  Loop& loop_;
  Report report_;
  base::UniqueFd output_end_, error_end_;
  std::unique_ptr<StreamReader> readers_[2];  // output, error
  std::string held_[2];                       // the begin of a line whose rest is still to be read
  std::unique_ptr<StreamWriter> input_;
  std::function<void()> done_;
};

}  // namespace terrane::tools
