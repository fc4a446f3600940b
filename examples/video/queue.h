#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace video {

// A queue between threads. Its length is bounded by the buffers that its users have.
template <typename Item>
class Queue {
 public:
  void push(Item item) {
    {
      std::lock_guard guard(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }
  // Waits for an item; none once the queue is closed and empty.
  std::optional<Item> pop() {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return !items_.empty() || closed_; });
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }
  std::optional<Item> try_pop() {
    std::lock_guard guard(mutex_);
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }
  // No further item comes.
  void close() {
    {
      std::lock_guard guard(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closed_ = false;
};

}  // namespace video
