#include "transport/message_queue.h"

#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"

namespace terrane::transport {
namespace {

constexpr std::size_t kFirstCapacity = 4096;

}  // namespace

std::size_t MessageQueue::footprint(std::uint64_t stored_bytes) {
  return sizeof(Entry) + ((stored_bytes + 15) & ~std::uint64_t{15});
}

MessageQueue::Entry& MessageQueue::entry() const {
  TERRANE_CHECK(read_ < write_, "the queue has a front message");
  return *reinterpret_cast<Entry*>(buffer_.data() + read_);
}

void MessageQueue::make_room(std::size_t bytes) {
  if (write_ + bytes <= buffer_.capacity()) return;
  std::size_t live = write_ - read_;
  if (live + bytes <= buffer_.capacity() && read_ >= live) {
    std::memcpy(buffer_.data(), buffer_.data() + read_, live);  // the two cannot overlap
    read_ = 0;
    write_ = live;
    return;
  }
  std::size_t capacity = std::max({kFirstCapacity, 2 * buffer_.capacity(), write_ + bytes});
  TERRANE_CHECK(buffer_.grow(capacity), "no memory left to queue a message");
}

void MessageQueue::push(std::uint64_t total_bytes, const Gather& rest) {
  std::size_t stored = rest.left();
  make_room(footprint(stored));
  auto* place = buffer_.data() + write_;
  new (place) Entry{total_bytes, stored, 0, 0};
  Gather copy = rest;
  copy.copy_to(place + sizeof(Entry), stored);
  write_ += footprint(stored);
}

MessageQueue::Front MessageQueue::front() const {
  const Entry& first = entry();
  const std::byte* bytes = buffer_.data() + read_ + sizeof(Entry) + first.taken_bytes;
  return {first.total_bytes, Bytes(bytes, first.stored_bytes - first.taken_bytes)};
}

void MessageQueue::take(std::size_t bytes) {
  Entry& first = entry();
  TERRANE_CHECK(bytes <= first.stored_bytes - first.taken_bytes, "no more than the front has");
  first.taken_bytes += bytes;
}

void MessageQueue::pop() {
  read_ += footprint(entry().stored_bytes);
  if (read_ == write_) clear();
}

void MessageQueue::clear() {
  read_ = write_ = 0;
  buffer_.trim();
}

void MessageQueue::swap(MessageQueue& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(read_, other.read_);
  std::swap(write_, other.write_);
}

}  // namespace terrane::transport
