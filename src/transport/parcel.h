#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/spin_lock.h"
#include "wire/frame.h"

namespace terrane::transport {

// A block of memory for the copy of one message. It begins where the header ends.
struct alignas(16) Parcel {
  Parcel* next = nullptr;  // in whatever list holds it
  void* owner = nullptr;   // the node that a callback concerns
  std::size_t bytes = 0;   // of the message
  std::size_t capacity = 0;
  wire::NetworkFrame frame{};

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

// Parcels in order of their sending. Borrows them.
class ParcelList {
 public:
  bool empty() const { return first_ == nullptr; }
  Parcel* front() const { return first_; }
  void push(Parcel* parcel) {
    parcel->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = parcel;
    last_ = parcel;
  }
  Parcel* pop() {
    Parcel* parcel = first_;
    first_ = parcel->next;
    return parcel;
  }

 private:
  Parcel* first_ = nullptr;
  Parcel* last_ = nullptr;
};

// Gives out parcels and keeps some of those that come back, so that a warm path does not allocate.
// Owns those that it keeps; all others must come back before it ends. Thread-safe.
class ParcelPool {
 public:
  ParcelPool() = default;
  ~ParcelPool();
  ParcelPool(const ParcelPool&) = delete;

  // A parcel for `bytes`. Ends the process when there is no memory for it.
  Parcel* take(std::size_t bytes);
  // The same for a size that somebody else names; nullptr when there is no memory for it.
  Parcel* try_take(std::size_t bytes);
  void give(Parcel* parcel);

 private:
  Parcel* take_kept(std::size_t bytes);

  SpinLock lock_;
  ParcelList small_;
  std::size_t kept_small_ = 0;
  ParcelList large_;  // few: searched
  std::size_t kept_large_bytes_ = 0;
};

}  // namespace terrane::transport
