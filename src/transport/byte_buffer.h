#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace terrane::transport {

// Uninitialised memory that is kept from use to use, up to a limit, so that warm paths never
// allocate. Owns it.
class ByteBuffer {
 public:
  std::byte* data() const { return data_.get(); }
  std::size_t capacity() const { return capacity_; }

  // Room for `bytes`, the content lost; false when the machine has no memory for it.
  bool reserve_fresh(std::size_t bytes) {
    if (bytes <= capacity_) return true;
    release();
    data_.reset(static_cast<std::byte*>(std::malloc(bytes)));
    capacity_ = data_ ? bytes : 0;
    return data_ != nullptr;
  }
  // Room for `bytes`, the content kept (large buffers move by their page tables); false and
  // unchanged when there is no memory for it.
  bool grow(std::size_t bytes) {
    if (bytes <= capacity_) return true;
    void* grown = std::realloc(data_.get(), bytes);
    if (grown == nullptr) return false;
    [[maybe_unused]] auto* moved = data_.release();
    data_.reset(static_cast<std::byte*>(grown));
    capacity_ = bytes;
    return true;
  }
  void release() {
    data_.reset();
    capacity_ = 0;
  }
  // Gives back what is not worth keeping for the next use.
  void trim() {
    if (capacity_ > kKeptBytes) release();
  }

 private:
  static constexpr std::size_t kKeptBytes = std::size_t{16} << 20;
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t capacity_ = 0;
};

}  // namespace terrane::transport
