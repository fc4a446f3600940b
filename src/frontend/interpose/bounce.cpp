#include "frontend/interpose/bounce.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>

namespace terrane::frontend {
namespace {

// What a thread keeps. Initial-exec and without a destructor: the first use may be in a signal
// handler, where neither may allocate.
struct Kept {
  std::byte* data;
  bool busy;
};
thread_local constinit Kept kept __attribute__((tls_model("initial-exec"))) = {};

std::byte* map(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void at_thread_exit(void* data) {
  kept = {};
  munmap(data, Bounce::kKeptBytes);
}

bool keep_one() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    return pthread_key_create(&made, at_thread_exit) == 0 ? made : ~pthread_key_t{0};
  }();
  std::byte* data = key == ~pthread_key_t{0} ? nullptr : map(Bounce::kKeptBytes);
  if (data == nullptr) return false;
  if (pthread_setspecific(key, data) != 0) {
    munmap(data, Bounce::kKeptBytes);
    return false;
  }
  kept.data = data;
  return true;
}

}  // namespace

Bounce::Bounce(std::size_t bytes) {
  if (bytes == 0) return;
  bool mine = bytes <= kKeptBytes && !kept.busy;
  if (mine) {
    kept.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    mine = kept.data != nullptr || keep_one();
    if (!mine) kept.busy = false;
  }
  if (mine) {
    data_ = kept.data;
  } else {
    mapped_ = bytes;
    data_ = map(bytes);
  }
}

Bounce::~Bounce() {
  if (data_ == nullptr) return;
  if (mapped_ == 0) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    kept.busy = false;
  } else {
    munmap(data_, mapped_);
  }
}

}  // namespace terrane::frontend
