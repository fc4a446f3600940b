#include "runtime/chunks/readiness.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace terrane::runtime::chunks {

int Readiness::descriptor(protocol::chunks::ChunkId chunk, Of what) {
  std::lock_guard hold(mutex_);
  base::UniqueFd& fd = all_[{chunk, what}];
  if (!fd) fd.reset(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  return fd.get();
}

void Readiness::raise(protocol::chunks::ChunkId chunk, Of what) {
  std::lock_guard hold(mutex_);
  auto at = all_.find({chunk, what});
  if (at == all_.end()) return;
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(at->second.get(), &one, sizeof one);  // full: readable
}

void Readiness::clear(protocol::chunks::ChunkId chunk, Of what) {
  std::lock_guard hold(mutex_);
  auto at = all_.find({chunk, what});
  if (at == all_.end()) return;
  std::uint64_t count = 0;
  [[maybe_unused]] auto read = ::read(at->second.get(), &count, sizeof count);
}

}  // namespace terrane::runtime::chunks
