#pragma once

#include <vector>

namespace terrane::base {

// Which descriptors this process had open when this was made. What a library (UCX, PMIx) opens
// afterwards for a node belongs to the node: the program must not close it, and programs that the
// node executes must not inherit it.
class OpenDescriptors {
 public:
  OpenDescriptors();

  // Takes sockets, pipes and the kernel's own objects (epoll, timers) that were opened since for
  // the node's own (descriptor_watch.h). What another thread opens meanwhile is taken along.
  void own_later_ones() const;
  // The same, and they are closed in programs that this process executes. UCX opens its sockets
  // without O_CLOEXEC: such a program would hold the job's connections when the node has ended.
  void own_later_ones_and_close_on_exec() const;

 private:
  std::vector<int> later_ones() const;

  std::vector<int> open_;  // in order
};

}  // namespace terrane::base
