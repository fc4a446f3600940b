#include "runtime/program/heap.h"

#include <algorithm>
#include <cstring>

#include "platform/page_size.h"

namespace terrane::runtime {
namespace {

// The largest block: with room for its alignment the size does not overflow.
constexpr std::uint64_t kMostBytes = PTRDIFF_MAX / 4;
// A large block that grows gets addresses for so many times its size, and at most so many more.
constexpr std::uint64_t kGrowth = 4, kMostAhead = std::uint64_t{64} << 30;

std::uint64_t up(std::uint64_t bytes, std::uint64_t grain) {
  return (bytes + grain - 1) / grain * grain;
}

}  // namespace

Heap::Heap(std::uint32_t self, std::uint32_t nodes, HeapMemory& memory, std::uint64_t most_kept)
    : self_(self), memory_(memory), outgoing_(nodes), kept_(most_kept) {}

void* Heap::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes > kMostBytes || alignment > kMostBytes) return nullptr;
  alignment = std::max(alignment, kAlignment);
  if (bytes + alignment >= kRegion) return large(bytes, alignment, false);
  std::uint64_t room = up(std::max(bytes, std::uint64_t{1}), Arena::kGrain) + sizeof(Header);
  if (alignment > kAlignment) room += alignment - kAlignment;
  for (;;) {
    std::optional<std::uintptr_t> begin;
    {
      std::lock_guard hold(mutex_);
      begin = arena_.take(room);
    }
    if (!begin) {
      if (receive() || grow(room)) continue;
      return nullptr;
    }
    std::uintptr_t at = up(*begin + sizeof(Header), alignment);
    auto* block = reinterpret_cast<void*>(at);
    *header_of(block) = {room, static_cast<std::uint32_t>(at - *begin),
                         static_cast<std::uint16_t>(self_), kBlock};
    return block;
  }
}

// Allocates a block in a region of its own. At least one page precedes the block; the header is at
// the end of that page, of which no other block has a part.
void* Heap::large(std::uint64_t bytes, std::uint64_t alignment, bool zeroed) {
  const std::uint64_t page = platform::page_bytes();
  const std::uint64_t lead = std::max(alignment, page);
  if (lead == page && !zeroed) {
    std::optional<KeptRegions::Region> kept;
    {
      std::lock_guard hold(mutex_);
      kept = kept_.take(bytes + 2 * page);
    }
    if (kept) return begin_large(kept->begin, kept->bytes - 2 * page, page);
  }
  void* region = take_region(bytes + 2 * lead, false);
  if (region == nullptr) return nullptr;
  return begin_large(reinterpret_cast<std::uintptr_t>(region), bytes, lead);
}

void* Heap::begin_large(std::uintptr_t region, std::uint64_t bytes, std::uint64_t lead) {
  std::uintptr_t at = up(region + platform::page_bytes(), lead);
  auto* block = reinterpret_cast<void*>(at);
  *header_of(block) = {bytes + (at - region), static_cast<std::uint32_t>(at - region),
                       static_cast<std::uint16_t>(self_), kOwnRegion};
  *reinterpret_cast<Capacity*>(region) = bytes;
  return block;
}

// If there is no region, the kept ones are freed first.
void* Heap::take_region(std::uint64_t bytes, bool sparse) {
  void* region = memory_.take_region(bytes, sparse);
  if (region != nullptr) return region;
  std::vector<KeptRegions::Region> kept;
  {
    std::lock_guard hold(mutex_);
    kept = kept_.take_all();
  }
  if (kept.empty()) return nullptr;
  give_regions(kept);
  return memory_.take_region(bytes, sparse);
}

// Keeps the block's region, or frees it. A block that is aligned to more than a page is not kept:
// its header does not show the size of its region.
void Heap::give_large(std::uintptr_t begin, const Header& header) {
  const std::uint64_t page = platform::page_bytes();
  if (header.lead != page) return memory_.give_region(reinterpret_cast<void*>(begin));
  std::vector<KeptRegions::Region> gone;
  {
    std::lock_guard hold(mutex_);
    gone = kept_.put({begin, header.bytes + page});
  }
  give_regions(gone);
}

void Heap::give_regions(const std::vector<KeptRegions::Region>& regions) {
  for (const KeptRegions::Region& region : regions)
    memory_.give_region(reinterpret_cast<void*>(region.begin));
}

void* Heap::allocate_zeroed(std::uint64_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  if (bytes + kAlignment >= kRegion) return large(bytes, kAlignment, true);
  void* block = allocate(bytes);
  if (block != nullptr) std::memset(block, 0, bytes);
  return block;
}

std::uint64_t Heap::bytes_of(const void* block) const {
  const Header& header = *header_of(const_cast<void*>(block));
  return header.bytes - header.lead;
}

// A large block that may grow to several times its size. nullptr: there are no such addresses.
void* Heap::take_growing(std::uint64_t bytes) {
  const std::uint64_t page = platform::page_bytes();
  std::uint64_t capacity =
      std::min({up(kGrowth * bytes, page), up(bytes, page) + kMostAhead, memory_.most_bytes()});
  if (capacity <= bytes) return nullptr;
  void* region = memory_.take_region(capacity + 2 * page, true);
  if (region == nullptr) return nullptr;
  void* block = begin_large(reinterpret_cast<std::uintptr_t>(region), bytes, page);
  *static_cast<Capacity*>(region) = capacity;
  return block;
}

bool Heap::resize_in_place(void* block, std::uint64_t bytes) {
  Header& header = *header_of(block);
  if (header.mark != kOwnRegion || header.lead != platform::page_bytes()) return false;
  auto* region = static_cast<std::byte*>(block) - header.lead;
  if (bytes > *reinterpret_cast<Capacity*>(region)) return false;
  header.bytes = bytes + header.lead;
  return true;
}

void* Heap::resize(void* block, std::uint64_t bytes) {
  std::uint64_t before = bytes_of(block);
  if (bytes <= before && bytes >= before / 2) return block;
  if (bytes > kMostBytes) return nullptr;
  if (bytes > before && resize_in_place(block, bytes)) return block;
  void* moved = bytes > before && bytes >= kRegion ? take_growing(bytes) : nullptr;
  if (moved == nullptr) moved = allocate(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(before, bytes));
  free(block);
  return moved;
}

bool Heap::free(void* block) {
  Header& header = *header_of(block);
  const Header was = header;
  bool known = was.mark == kBlock || was.mark == kOwnRegion;
  if (!known || was.node >= outgoing_.size()) return false;
  header.mark = kFreed;
  std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(block) - was.lead;
  if (was.mark == kOwnRegion) {
    give_large(begin, was);
  } else if (was.node == self_) {
    std::lock_guard hold(mutex_);
    arena_.give_back(begin, was.bytes);
  } else {
    send(was.node, reinterpret_cast<std::uintptr_t>(block), was.bytes);
  }
  return true;
}

// Returns blocks of this node that other nodes have freed to the arena. False: there were none.
bool Heap::receive() {
  std::vector<std::uintptr_t> blocks;
  HeapMail& mail = memory_.lock_mail(self_);
  auto count = std::min<std::uint64_t>(mail.count, HeapMail::kRoom);
  blocks.assign(mail.blocks, mail.blocks + count);
  if (count > 0) mail.count = 0;
  memory_.unlock_mail(self_);
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> free;
  for (std::uintptr_t block : blocks) {
    const Header& header = *header_of(reinterpret_cast<void*>(block));
    free.emplace_back(block - header.lead, header.bytes);
  }
  std::lock_guard hold(mutex_);
  for (auto [begin, bytes] : free) arena_.give_back(begin, bytes);
  return !free.empty();
}

// Sent in batches, because each costs a lock. Blocks that find no room in the mail wait for the
// next batch.
void Heap::send(std::uint32_t node, std::uintptr_t block, std::uint64_t bytes) {
  std::vector<std::uintptr_t> ready;
  {
    std::lock_guard hold(mutex_);
    Outgoing& outgoing = outgoing_[node];
    outgoing.blocks.push_back(block);
    outgoing.bytes += bytes;
    bool many = outgoing.blocks.size() % kMostKept == 0;
    if (!many && outgoing.bytes < kMostKeptBytes) return;
    ready.swap(outgoing.blocks);
    outgoing.bytes = 0;
  }
  HeapMail& mail = memory_.lock_mail(node);
  while (!ready.empty() && mail.count < HeapMail::kRoom) {
    mail.blocks[mail.count++] = ready.back();
    ready.pop_back();
  }
  memory_.unlock_mail(node);
  if (ready.empty()) return;
  std::lock_guard hold(mutex_);
  Outgoing& outgoing = outgoing_[node];
  outgoing.blocks.insert(outgoing.blocks.end(), ready.begin(), ready.end());
}

bool Heap::grow(std::uint64_t bytes) {
  std::lock_guard one(growing_);
  {
    std::lock_guard hold(mutex_);
    if (auto begin = arena_.take(bytes)) {  // another thread has added a region meanwhile
      arena_.give_back(*begin, bytes);
      return true;
    }
  }
  void* chunk = take_region(kChunk, true);
  if (chunk == nullptr) return false;
  std::lock_guard hold(mutex_);
  arena_.add(reinterpret_cast<std::uintptr_t>(chunk), kChunk);
  return true;
}

}  // namespace terrane::runtime
