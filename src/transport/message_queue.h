#pragma once

#include <cstdint>

#include "transport/byte_buffer.h"
#include "transport/gather.h"
#include "transport/transport.h"

namespace terrane::transport {

// Messages in order, copied one behind the other into a buffer that is reused. Owns the copies. The
// front message can be taken in pieces. Not thread-safe.
class MessageQueue {
 public:
  struct Front {
    std::uint64_t total_bytes;  // of the message as it was sent
    Bytes rest;                 // what has not been taken yet; valid until the next push
  };

  bool empty() const { return read_ == write_; }
  // Appends what is left of a message of `total_bytes`. Ends the process when there is no memory
  // for it.
  void push(std::uint64_t total_bytes, const Gather& rest);
  Front front() const;
  // Moves past `bytes` of the front message's rest, which stays at the front even when nothing is
  // left of it.
  void take(std::size_t bytes);
  void pop();
  void clear();
  void swap(MessageQueue& other) noexcept;

 private:
  struct Entry {
    std::uint64_t total_bytes;
    std::uint64_t stored_bytes;
    std::uint64_t taken_bytes;
    std::uint64_t unused;  // keeps the payload aligned to 16
  };

  static std::size_t footprint(std::uint64_t stored_bytes);
  Entry& entry() const;
  void make_room(std::size_t bytes);

  ByteBuffer buffer_;
  std::size_t read_ = 0;
  std::size_t write_ = 0;
};

}  // namespace terrane::transport
