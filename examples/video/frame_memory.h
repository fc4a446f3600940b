#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace video {

struct FreeMemory {
  void operator()(std::uint8_t* memory) const { std::free(memory); }
};
using FrameBuffer = std::unique_ptr<std::uint8_t[], FreeMemory>;

// A buffer for so many bytes, aligned to a page.
inline FrameBuffer make_frame(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  auto* memory =
      static_cast<std::uint8_t*>(std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage));
  if (memory == nullptr) throw std::bad_alloc();
  return FrameBuffer(memory);
}

}  // namespace video
