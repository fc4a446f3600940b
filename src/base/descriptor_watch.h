#pragma once

#include <atomic>

namespace terrane::base {

// The receiver that this library tells which descriptors are its own, so that the program cannot
// close them by mistake (membership/descriptors.h). Any thread; may be called before constructors
// run.
struct DescriptorWatch {
  void (*owned)(int fd) noexcept;
  void (*given_up)(int fd) noexcept;  // before it is closed or handed on
};

inline constinit std::atomic<const DescriptorWatch*> descriptor_watch{nullptr};  // nobody

inline void own_descriptor(int fd) noexcept {
  const DescriptorWatch* watch = descriptor_watch.load(std::memory_order_relaxed);
  if (watch != nullptr && fd >= 0) watch->owned(fd);
}
inline void give_up_descriptor(int fd) noexcept {
  const DescriptorWatch* watch = descriptor_watch.load(std::memory_order_relaxed);
  if (watch != nullptr && fd >= 0) watch->given_up(fd);
}

}  // namespace terrane::base
