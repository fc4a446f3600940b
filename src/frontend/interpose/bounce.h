#pragma once

#include <cstddef>

namespace terrane::frontend {

// A private buffer of this thread for one system call: small ones are kept for the thread's next
// call, large ones are mapped and unmapped. Async-signal-safe: a call in a signal handler gets a
// buffer of its own. data() is null for 0 bytes, and
// where the machine has no memory (errno ENOMEM).
class Bounce {
 public:
  static constexpr std::size_t kKeptBytes = 256 * 1024;

  explicit Bounce(std::size_t bytes);
  ~Bounce();
  Bounce(const Bounce&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t mapped_ = 0;  // 0: the thread's kept one
};

}  // namespace terrane::frontend
