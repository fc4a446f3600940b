#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace terrane::routing {

inline constexpr std::int64_t kTurnBytes = 16 * 1024;

// Items that have bytes to send take turns, each with about the same number of bytes: surplus round
// robin (Adiseshu, Parulkar, Varghese 1996). An Item has a `std::int64_t surplus = kTurnBytes`,
// which it keeps while it is not in the queue.
template <typename Item>
class Turns {
 public:
  bool empty() const { return items_.empty(); }
  void add(Item& item) { items_.push_back(&item); }
  void remove(Item& item) { items_.erase(std::find(items_.begin(), items_.end(), &item)); }

  // The item whose turn it is; there must be one.
  Item& front() {
    while (items_.front()->surplus <= 0) next();
    return *items_.front();
  }
  // The front item has sent this many bytes.
  void charge(std::uint64_t bytes) {
    items_.front()->surplus -= static_cast<std::int64_t>(bytes);
    if (items_.front()->surplus <= 0) next();
  }

 private:
  void next() {
    items_.front()->surplus += kTurnBytes;
    items_.push_back(items_.front());
    items_.pop_front();
  }

  std::deque<Item*> items_;
};

}  // namespace terrane::routing
