#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "runtime/memory_share.h"
#include "runtime/page_space.h"

namespace terrane::runtime {

// Looks every second how much memory the machine and the control groups of this process permit, and
// changes the node's share with it. Owns a thread, which sleeps else.
class MemoryWatch {
 public:
  // Called by that thread, which holds no lock.
  struct Duties {
    std::function<std::uint64_t()> kept_bytes;       // of this node
    std::function<void(const MemoryShare&)> bound;   // this is its share from now on
    std::function<void()> shrink;                    // it keeps more than that: some of it goes
    std::function<void(const std::string&)> report;  // a sentence for the user, once
  };

  MemoryWatch() = default;
  MemoryWatch(const MemoryWatch&) = delete;
  ~MemoryWatch() { stop(); }

  // growth: wakes the thread earlier. sharers: how many nodes are on the machine, which have to
  // give up what is missing together.
  void start(const MemoryShare& at_start, std::uint32_t sharers, Growth& growth, Duties duties);
  // Returns when the thread has ended. It may be waiting for other nodes in shrink().
  void stop();

 private:
  void run();
  bool look();

  MemoryShare at_start_, now_;
  std::int64_t sharers_ = 1;
  Duties duties_;
  std::uint32_t in_vain_ = 0;  // looks after which nothing went
  Growth* growth_ = nullptr;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace terrane::runtime
