#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/frame_reader.h"
#include "tools/launch/watch/job_view.h"

namespace terrane::tools::top {

// A connection to a running job of this user on this host. Owns it.
class Client {
 public:
  // The name of a job, or the number of its process; empty: the only one of this user. The error
  // says that there is none, with those that there are, or whose it is.
  static base::Result<Client> connect(const std::string& job);

  // The next view. Blocks for some seconds at most.
  base::Result<JobView> ask();
  // After an error of ask(): the job has ended.
  bool has_ended() const { return ended_; }
  const std::string& name() const { return name_; }

 private:
  Client(std::string name, base::UniqueFd socket)
      : name_(std::move(name)), socket_(std::move(socket)) {}
  static base::Result<Client> knock(const std::string& name);

  std::string name_;
  base::UniqueFd socket_;
  FrameReader reader_;
  bool ended_ = false;
};

}  // namespace terrane::tools::top
