#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "runtime/trace/log_format.h"

namespace terrane::runtime::trace {

// The events of one thread that are not in the file yet. Only that thread adds events; one thread
// at a time takes them out.
class EventRing {
 public:
  static constexpr std::uint64_t kRecords = 4096;  // 128 KiB

  // False: the ring is full.
  bool add(const Record& record) {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == full_at_ && !look_for_room(head)) return false;
    records_[head % kRecords] = record;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // Passes all records to `write`, which may change them, in one or two pieces, and then removes
  // them.
  template <typename Write>
  void drain(Write write) {
    std::lock_guard hold(draining_);
    std::uint64_t from = tail_.load(std::memory_order_relaxed);
    std::uint64_t to = head_.load(std::memory_order_acquire);
    while (from < to) {
      std::uint64_t at = from % kRecords;
      std::uint64_t count = to - from < kRecords - at ? to - from : kRecords - at;
      write(std::span<Record>(&records_[at], count));
      from += count;
    }
    tail_.store(to, std::memory_order_release);
  }

  std::uint32_t thread = 0;             // the system's number of its thread
  std::uint32_t text_left = 0;          // bytes of a text that were not taken out yet
  std::uint64_t last_ns = 0;            // when the last record that was taken out ended
  std::atomic<bool> abandoned = false;  // its thread has ended

 private:
  bool look_for_room(std::uint64_t head) {
    full_at_ = tail_.load(std::memory_order_acquire) + kRecords;
    return head != full_at_;
  }

  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t full_at_ = kRecords;  // head at which the ring is full, as its thread knows it
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::mutex draining_;
  std::array<Record, kRecords> records_;
};

}  // namespace terrane::runtime::trace
