#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "ucx_floor.h"

namespace terrane::bench {

// The two nodes of a row whose pages travel over a network: node 1 passes its time as the row says
// while node 0 measures, and answers when node 0 asks UCX alone for its floor. Owns a connection of
// UCX's own between them.
class Partner {
 public:
  // Collective. `shared`: shared memory of at least 2 x 4096 bytes, by which addresses come across.
  static base::Result<std::unique_ptr<Partner>> meet(std::uint8_t* shared, bool computes);

  // Node 1: computes until node 0 has measured; returns at once where it is to poll.
  void pass_time();
  // Node 0, after what pass_time() accompanies.
  void measured();

  // Node 1: serves node 0's request_reply(): polling, or asleep beside a thread that computes.
  void serve();
  // Node 0: nanoseconds of UCX's own request and reply of so many bytes.
  double request_reply(std::size_t bytes);

 private:
  Partner(std::unique_ptr<UcxFloor> floor, bool computes)
      : floor_(std::move(floor)), computes_(computes) {}

  std::unique_ptr<UcxFloor> floor_;
  bool computes_;
};

}  // namespace terrane::bench
