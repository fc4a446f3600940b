#pragma once

#include <vector>

namespace terrane::transport::ucx {

// Which descriptors this process had open when this was made. UCX opens its sockets and its like
// without O_CLOEXEC: a program that a node executes would inherit the job's connections, and hold
// them open when the node has ended.
class OpenDescriptors {
 public:
  OpenDescriptors();

  // Sockets, pipes and the kernel's own objects (epoll, timers) that were opened since are closed
  // in programs that this process executes. What another thread opens meanwhile is taken along.
  void close_later_ones_on_exec() const;

 private:
  std::vector<int> open_;  // in order
};

}  // namespace terrane::transport::ucx
