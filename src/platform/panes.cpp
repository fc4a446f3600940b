#include "platform/panes.h"

#include <algorithm>
#include <utility>

namespace terrane::platform {

void Panes::add(const Pane& pane) {
  if (panes_ == nullptr) panes_ = std::make_unique<Pane[]>(kMost);
  std::size_t count = count_.load(std::memory_order_relaxed);
  panes_[count] = pane;
  auto order = std::make_unique<Order>();
  order->count = count + 1;
  auto sorted = [&](const Index* before, auto is_less) {
    auto all = std::make_unique<Index[]>(count + 1);
    auto is_before = [&](Index one, const Pane& other) { return is_less(panes_[one], other); };
    const Index* at = std::lower_bound(before, before + count, pane, is_before);
    Index* rest = std::copy(before, at, all.get());
    *rest = static_cast<Index>(count);
    std::copy(at, before + count, rest + 1);
    return all;
  };
  const Index* offsets = newest_ == nullptr ? nullptr : newest_->by_offset.get();
  const Index* addresses = newest_ == nullptr ? nullptr : newest_->by_address.get();
  order->by_offset =
      sorted(offsets, [](const Pane& a, const Pane& b) { return a.span.offset < b.span.offset; });
  order->by_address =
      sorted(addresses, [](const Pane& a, const Pane& b) { return a.address < b.address; });
  order->before = std::move(newest_);
  newest_ = std::move(order);
  order_.store(newest_.get(), std::memory_order_release);
  count_.store(count + 1, std::memory_order_release);
}

bool Panes::meets(Span span) const {
  const Order* order = order_.load(std::memory_order_acquire);
  if (order == nullptr || span.bytes == 0) return false;
  std::uint64_t end = span.offset + span.bytes;
  const Pane* last = last_at_or_before(order->by_offset, order->count,
                                       [&](const Pane& one) { return one.span.offset < end; });
  return last != nullptr && last->span.offset + last->span.bytes > span.offset;
}

void Panes::swap(Panes& other) noexcept {
  std::swap(panes_, other.panes_);
  std::swap(newest_, other.newest_);
  count_.store(other.count_.exchange(count_.load()));
  order_.store(other.order_.exchange(order_.load()));
}

}  // namespace terrane::platform
