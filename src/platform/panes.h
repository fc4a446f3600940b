#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace terrane::platform {

// A stretch of a mapping, in bytes from its start; multiples of the page size.
struct Span {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// A stretch of an application view that lies at an address of its own.
struct Pane {
  Span span;
  std::byte* address = nullptr;
};

// Panes, none over another. Any thread may ask at any time, also in a signal handler, without a
// lock; one thread at a time may add. Those that ask use general registers alone, so code may ask
// that the program has not called.
class Panes {
 public:
  // A program with several hundred libraries has two of each.
  static constexpr std::size_t kMost = 2048;

  Panes() = default;
  Panes(Panes&& other) noexcept { swap(other); }
  Panes& operator=(Panes&& other) noexcept {
    swap(other);
    return *this;
  }

  // Not more than kMost in all.
  void add(const Pane& pane);
  std::size_t size() const { return count_.load(std::memory_order_acquire); }
  // In the order in which they came.
  std::span<const Pane> all() const { return {panes_.get(), size()}; }

  // The pane that has the byte of the mapping; nullptr: none.
  const Pane* at_offset(std::uint64_t offset) const {
    const Order* order = order_.load(std::memory_order_acquire);
    if (order == nullptr) return nullptr;
    const Pane* pane = last_at_or_before(
        order->by_offset, order->count, [&](const Pane& one) { return one.span.offset <= offset; });
    return pane != nullptr && offset - pane->span.offset < pane->span.bytes ? pane : nullptr;
  }
  // Whether a pane has a byte of the span.
  bool meets(Span span) const;
  // The pane that the program sees at the address; nullptr: none.
  [[gnu::always_inline]] const Pane* at_address(std::uintptr_t address) const {
    const Order* order = order_.load(std::memory_order_acquire);
    if (order == nullptr) return nullptr;
    const Pane* pane = last_at_or_before(order->by_address, order->count, [&](const Pane& one) {
      return reinterpret_cast<std::uintptr_t>(one.address) <= address;
    });
    bool is_inside = pane != nullptr &&
                     address - reinterpret_cast<std::uintptr_t>(pane->address) < pane->span.bytes;
    return is_inside ? pane : nullptr;
  }

 private:
  using Index = std::uint16_t;
  struct Order {
    std::size_t count = 0;
    std::unique_ptr<Index[]> by_offset, by_address;
    std::unique_ptr<const Order> before;  // others may still read it
  };

  template <typename IsAtOrBefore>
  [[gnu::always_inline]] const Pane* last_at_or_before(const std::unique_ptr<Index[]>& sorted,
                                                       std::size_t count,
                                                       IsAtOrBefore is_at_or_before) const {
    std::size_t low = 0, high = count;
    while (low < high) {
      std::size_t middle = (low + high) / 2;
      if (is_at_or_before(panes_[sorted[middle]]))
        low = middle + 1;
      else
        high = middle;
    }
    return low == 0 ? nullptr : &panes_[sorted[low - 1]];
  }
  void swap(Panes& other) noexcept;

  std::unique_ptr<Pane[]> panes_;  // kMost of them, once there is one
  std::atomic<std::size_t> count_{0};
  std::unique_ptr<const Order> newest_;
  std::atomic<const Order*> order_{nullptr};  // the newest
};

}  // namespace terrane::platform
