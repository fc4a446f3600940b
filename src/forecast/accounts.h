#pragma once

#include <unordered_map>
#include <vector>

#include "forecast/forecast.h"

namespace terrane::forecast {

// What pages, locks and barriers cost the threads of a program.
class Accounts {
 public:
  Accounts(std::uint64_t pages, std::uint32_t nodes)
      : nodes_(nodes), pages_(pages), seen_(pages * nodes) {}

  // A thread of that node faulted on the page.
  void fault(std::uint64_t page, std::uint32_t node) {
    ++pages_[page].faults;
    note(page, node);
  }
  // The page came to a node, for a fault or without one.
  void came(std::uint64_t page) { ++pages_[page].came; }
  // A thread got a token; remote: from another node.
  void acquired(std::uint64_t id, bool remote) {
    LockForecast& lock = locks_[id];
    ++lock.acquisitions;
    lock.remote += remote;
  }
  // A thread of that node has done the op, in that time. The ops of a thread's own memory are no
  // wait.
  void done(const Op& op, std::uint32_t node, Ns time, Times& times);
  void write(Forecast& forecast) const;

 private:
  struct Cost {
    std::uint64_t faults = 0, came = 0;
    Ns waited = 0;
    std::uint32_t nodes = 0;
  };
  void note(std::uint64_t page, std::uint32_t node) {
    if (seen_[page * nodes_ + node]) return;
    seen_[page * nodes_ + node] = true;
    ++pages_[page].nodes;
  }

  std::uint32_t nodes_;
  std::vector<Cost> pages_;
  std::vector<bool> seen_;  // by page and node
  std::unordered_map<std::uint64_t, LockForecast> locks_;
  std::unordered_map<std::uint64_t, BarrierForecast> barriers_;
};

}  // namespace terrane::forecast
