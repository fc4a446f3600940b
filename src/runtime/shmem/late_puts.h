#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/transport.h"

namespace terrane::runtime::shmem {

// The delayed puts of one PE of a test: each is stored some time after the one before,
// independently of the puts of other PEs. Owns a thread, which stores a word in one access.
class LatePuts {
 public:
  explicit LatePuts(std::chrono::milliseconds delay)
      : delay_(delay), carrier_([this] { carry(); }) {}
  ~LatePuts() {
    {
      std::lock_guard hold(lock_);
      stopping_ = true;
    }
    change_.notify_all();
  }

  void send(std::byte* to, transport::Bytes bytes) {
    {
      std::lock_guard hold(lock_);
      under_way_.push_back({to, {bytes.begin(), bytes.end()}});
    }
    change_.notify_all();
  }
  void wait_until_all_have_come() {
    std::unique_lock hold(lock_);
    change_.wait(hold, [this] { return under_way_.empty(); });
  }

 private:
  struct Put {
    std::byte* to;
    std::vector<std::byte> bytes;
  };

  static void store(const Put& put) {
    if (put.bytes.empty()) return;
    if (put.bytes.size() != sizeof(std::uint64_t)) {
      std::memcpy(put.to, put.bytes.data(), put.bytes.size());
      return;
    }
    std::uint64_t word;
    std::memcpy(&word, put.bytes.data(), sizeof word);
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(put.to))
        .store(word, std::memory_order_release);
  }

  void carry() {
    std::unique_lock hold(lock_);
    for (;;) {
      change_.wait(hold, [this] { return stopping_ || !under_way_.empty(); });
      if (under_way_.empty()) return;
      hold.unlock();
      std::this_thread::sleep_for(delay_);
      hold.lock();
      store(under_way_.front());
      under_way_.pop_front();
      change_.notify_all();
    }
  }

  std::chrono::milliseconds delay_;
  std::mutex lock_;
  std::condition_variable change_;
  std::deque<Put> under_way_;
  bool stopping_ = false;
  std::jthread carrier_;
};

}  // namespace terrane::runtime::shmem
