#include "runtime/page_writes.h"

#include <sys/mman.h>

namespace terrane::runtime {

PageWrites::PageWrites(std::uint64_t blocks)
    : count_(blocks), used_((blocks + kGroup - 1) / kGroup) {
  void* at = ::mmap(nullptr, count_ * sizeof(Page), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pages_ = at == MAP_FAILED ? nullptr : static_cast<Page*>(at);
}

PageWrites::~PageWrites() {
  if (pages_ != nullptr) ::munmap(pages_, count_ * sizeof(Page));
}

PageWrites::Page& PageWrites::use(std::uint64_t block) {
  std::atomic<bool>& used = used_[block / kGroup];
  if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
  return pages_[block];
}

void PageWrites::note_written(protocol::BlockRange blocks) {
  std::uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (phase >= kPhases || pages_ == nullptr) return;
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b)
    use(b).phases.fetch_or(std::uint64_t{1} << phase, std::memory_order_relaxed);
}

void PageWrites::note_flushed(std::uint64_t block) {
  if (phase_.load(std::memory_order_relaxed) == kNoPhase || pages_ == nullptr) return;
  use(block).flushes.fetch_add(1, std::memory_order_relaxed);
}

void PageWrites::for_each(const std::function<void(std::uint64_t, const Page&)>& call) const {
  for (std::uint64_t b = 0; b < count_; ++b) {
    if (!used_[b / kGroup].load(std::memory_order_relaxed)) {
      b += kGroup - 1 - b % kGroup;
    } else if (pages_[b].phases.load(std::memory_order_relaxed) != 0) {
      call(b, pages_[b]);
    }
  }
}

}  // namespace terrane::runtime
