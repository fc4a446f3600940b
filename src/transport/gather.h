#pragma once

#include <algorithm>
#include <cstring>

#include "transport/transport.h"

namespace terrane::transport {

// A message in two parts that is copied out piece by piece, joined. Borrows the bytes.
class Gather {
 public:
  Gather(Bytes head, Bytes tail) : head_(head), tail_(tail) {}

  std::size_t left() const { return head_.size() + tail_.size(); }
  Bytes head() const { return head_; }
  Bytes tail() const { return tail_; }

  // Copies the next `bytes` (at most left()) to `out` and moves past them.
  void copy_to(std::byte* out, std::size_t bytes) {
    out = take(head_, out, bytes);
    take(tail_, out, bytes);
  }

 private:
  static std::byte* take(Bytes& part, std::byte* out, std::size_t& bytes) {
    std::size_t now = std::min(part.size(), bytes);
    if (now == 0) return out;
    std::memcpy(out, part.data(), now);
    part = part.subspan(now);
    bytes -= now;
    return out + now;
  }

  Bytes head_;
  Bytes tail_;
};

}  // namespace terrane::transport
