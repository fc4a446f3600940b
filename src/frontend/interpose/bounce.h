#pragma once

#include <cstddef>

namespace terrane::frontend {

// A private buffer of this thread for one system call. Small ones are cut from memory that the
// thread keeps, the last one goes first; large ones are mapped and unmapped. Async-signal-safe.
// data() is null for 0 bytes, and where the machine has no memory (errno ENOMEM).
class Bounce {
 public:
  static constexpr std::size_t kKeptBytes = 256 * 1024;

  explicit Bounce(std::size_t bytes);
  ~Bounce();
  Bounce(const Bounce&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t mapped_ = 0;  // 0: it is cut from the kept memory ...
  std::size_t begin_ = 0;   // ... here
};

}  // namespace terrane::frontend
