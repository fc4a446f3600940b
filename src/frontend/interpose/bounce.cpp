#include "frontend/interpose/bounce.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

namespace terrane::frontend {
namespace {

constexpr std::size_t kAlignment = 64;
// A call has a buffer of kKeptBytes at most, and a few small ones.
constexpr std::size_t kRoom = Bounce::kKeptBytes + 64 * 1024;

// What a thread keeps. Initial-exec and without a destructor: the first use may be in a signal
// handler, where neither may allocate.
struct Kept {
  std::byte* data;
  std::size_t used;
};
thread_local constinit Kept kept __attribute__((tls_model("initial-exec"))) = {};

std::byte* map(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void at_thread_exit(void* data) {
  kept = {};
  munmap(data, kRoom);
}

bool keep_room() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    return pthread_key_create(&made, at_thread_exit) == 0 ? made : ~pthread_key_t{0};
  }();
  std::byte* data = key == ~pthread_key_t{0} ? nullptr : map(kRoom);
  if (data == nullptr) return false;
  if (pthread_setspecific(key, data) != 0) {
    munmap(data, kRoom);
    return false;
  }
  kept.data = data;
  return true;
}

}  // namespace

// A signal handler that comes in between gives back what it took.
Bounce::Bounce(std::size_t bytes) {
  if (bytes == 0) return;
  std::size_t taken = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  begin_ = kept.used;
  if (bytes <= kKeptBytes && taken <= kRoom - begin_) {
    kept.used = begin_ + taken;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (kept.data != nullptr || keep_room()) {
      data_ = kept.data + begin_;
      return;
    }
    kept.used = begin_;
  }
  mapped_ = bytes;
  data_ = map(bytes);
}

Bounce::~Bounce() {
  if (data_ == nullptr) return;
  if (mapped_ == 0) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    kept.used = begin_;
  } else {
    munmap(data_, mapped_);
  }
}

}  // namespace terrane::frontend
