#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::runtime {

// A count. One thread adds to it; any thread may read it.
class Counter {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class SiteCounters;

// Where a thread counts what happens to pages; nullptr: nowhere. Another thread may set it.
class SitesPointer {
 public:
  SitesPointer& operator=(SiteCounters* sites) {
    to_.store(sites, std::memory_order_release);
    return *this;
  }
  operator SiteCounters*() const { return to_.load(std::memory_order_acquire); }
  SiteCounters* operator->() const { return *this; }

 private:
  std::atomic<SiteCounters*> to_{nullptr};
};

// What one thread did, in ViSMI's categories (ViSMI, section 5). Fields that end in _ns are
// nanoseconds.
struct Counters {
  Counter pages_fetched, read_faults, write_faults, pages_flushed, bytes_flushed, notices,
      pages_invalidated, pages_evicted, pages_adopted, pages_refreshed,
      refreshed_unused,  // refreshed again although no thread had used the previous refresh
      zero_fills, scans, idle_scans, lock_acquires, barriers, messages_sent, message_bytes_sent,
      messages_received, message_bytes_received, link_messages, link_bytes, fetch_ns, lock_ns,
      barrier_ns, handler_ns, overhead_ns;
  // Counts a message to another node. far: that node is in another cluster.
  void sent(std::uint64_t bytes, bool far) {
    messages_sent.add(1);
    message_bytes_sent.add(bytes);
    if (!far) return;
    link_messages.add(1);
    link_bytes.add(bytes);
  }

  SitesPointer sites;  // of the node; nullptr without a report, and while nobody watches the node
};

}  // namespace terrane::runtime
