#pragma once

#include <cstdint>

namespace terrane::forecast {

using Ns = std::uint64_t;  // virtual nanoseconds

// What things take, in nanoseconds: as measured on real nodes (docs/results.md, "Page coherence
// over tcp" and "Page coherence"), each host with a processor for its handler.
struct Costs {
  // The way from one node to another, one way: half of a bare request and reply, and the bandwidth
  // of a sender and of a receiver.
  double latency = 4'000;
  double per_message = 600;
  double per_byte = 0.25;
  // The handler, for a message; and until it runs where no thread of the node polls.
  double handle = 500;
  double wake = 5'000;
  // A page fault: the signal, the entry of the handler and the return.
  double fault = 2'600;
  double first_write = 770;  // to a protected page: the kernel's own fault
  double enter = 900;        // kMap
  double view_call = 400;    // kProtect, kScan: a call ...
  double view_page = 2.4;    // ... and for each page
  double zap = 1'300;
  double copy_page = 150;
  double compare_page = 250;  // the difference to a twin; to apply one
  double step = 200;          // of a node's machine
};

// The measured costs on a link that takes `one_way_us` microseconds more each way, as `ping` says
// in half, and passes so many bytes a second each way (0: as many as the nodes can send).
Costs link(double one_way_us, double bytes_per_second);

}  // namespace terrane::forecast
