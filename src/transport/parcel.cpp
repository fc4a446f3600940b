#include "transport/parcel.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/check.h"

namespace terrane::transport {
namespace {

constexpr std::size_t kSmallBytes = (std::size_t{8} << 10) - sizeof(Parcel);
constexpr std::size_t kMostSmall = 64;
constexpr std::size_t kMostLargeBytes = std::size_t{16} << 20;
constexpr std::size_t kInLargePages = std::size_t{4} << 20;

// The faults of fresh memory cost more than its bytes. A hint: without large pages nothing fails.
void prefer_large_pages(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  auto first = (reinterpret_cast<std::uintptr_t>(memory) + kLargePage - 1) & ~(kLargePage - 1);
  auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kLargePage - 1);
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace

Parcel* ParcelPool::take_kept(std::size_t bytes) {
  std::lock_guard hold(lock_);
  if (bytes <= kSmallBytes) {
    if (small_.empty()) return nullptr;
    --kept_small_;
    return small_.pop();
  }
  // The first that fits and is not much too large; the others go round to the end.
  for (Parcel* last = nullptr; !large_.empty();) {
    Parcel* parcel = large_.pop();
    if (parcel->capacity >= bytes && parcel->capacity / 4 <= bytes) {
      kept_large_bytes_ -= parcel->capacity;
      return parcel;
    }
    large_.push(parcel);
    if (last == nullptr) last = parcel;
    if (large_.front() == last) break;
  }
  return nullptr;
}

Parcel* ParcelPool::take(std::size_t bytes) {
  Parcel* parcel = try_take(bytes);
  TERRANE_CHECK(parcel != nullptr, "no memory left to keep a message");
  return parcel;
}

Parcel* ParcelPool::try_take(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX - sizeof(Parcel)) return nullptr;
  Parcel* parcel = take_kept(bytes);
  if (parcel == nullptr) {
    std::size_t capacity = bytes <= kSmallBytes ? kSmallBytes : bytes;
    void* memory = std::malloc(sizeof(Parcel) + capacity);
    if (memory == nullptr) return nullptr;
    if (capacity >= kInLargePages) prefer_large_pages(memory, capacity);
    parcel = new (memory) Parcel{};
    parcel->capacity = capacity;
  }
  parcel->bytes = bytes;
  return parcel;
}

void ParcelPool::give(Parcel* parcel) {
  {
    std::lock_guard hold(lock_);
    bool small = parcel->capacity == kSmallBytes;
    if (small && kept_small_ < kMostSmall) {
      ++kept_small_;
      return small_.push(parcel);
    }
    if (!small && kept_large_bytes_ + parcel->capacity <= kMostLargeBytes) {
      kept_large_bytes_ += parcel->capacity;
      return large_.push(parcel);
    }
  }
  std::free(parcel);
}

ParcelPool::~ParcelPool() {
  for (ParcelList* list : {&small_, &large_}) {
    while (!list->empty()) std::free(list->pop());
  }
}

}  // namespace terrane::transport
