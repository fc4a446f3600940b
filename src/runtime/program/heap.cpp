#include "runtime/program/heap.h"

#include <algorithm>
#include <cstring>

#include "platform/page_size.h"

namespace terrane::runtime {
namespace {

std::uint64_t up(std::uint64_t bytes, std::uint64_t grain) {
  return (bytes + grain - 1) / grain * grain;
}

}  // namespace

Heap::Heap(std::uint32_t self, std::uint32_t nodes, HeapMemory& memory)
    : self_(self), memory_(memory), outgoing_(nodes) {}

void* Heap::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes > PTRDIFF_MAX - 2 * alignment - kRegion) return nullptr;
  alignment = std::max(alignment, kAlignment);
  if (bytes + alignment >= kRegion) return take_region(bytes, alignment);
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

// The header lies at the end of the page before the block, which no other block has a part of.
void* Heap::take_region(std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t lead = std::max(alignment, platform::page_bytes());
  void* region = memory_.take_region(bytes + 2 * lead);
  if (region == nullptr) return nullptr;
  auto begin = reinterpret_cast<std::uintptr_t>(region);
  std::uintptr_t at = up(begin + platform::page_bytes(), lead);
  auto* block = reinterpret_cast<void*>(at);
  *header_of(block) = {bytes + (at - begin), static_cast<std::uint32_t>(at - begin),
                       static_cast<std::uint16_t>(self_), kOwnRegion};
  return block;
}

void* Heap::allocate_zeroed(std::uint64_t bytes) {
  void* block = allocate(bytes);
  bool is_zeroed = block == nullptr || header_of(block)->mark == kOwnRegion;
  if (!is_zeroed) std::memset(block, 0, bytes);
  return block;
}

std::uint64_t Heap::bytes_of(const void* block) const {
  const Header& header = *header_of(const_cast<void*>(block));
  return header.bytes - header.lead;
}

void* Heap::resize(void* block, std::uint64_t bytes) {
  std::uint64_t before = bytes_of(block);
  if (bytes <= before && bytes >= before / 2) return block;
  void* moved = allocate(bytes);
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
    memory_.give_region(reinterpret_cast<void*>(begin));
  } else if (was.node == self_) {
    std::lock_guard hold(mutex_);
    arena_.give_back(begin, was.bytes);
  } else {
    send(was.node, reinterpret_cast<std::uintptr_t>(block), was.bytes);
  }
  return true;
}

// What other nodes have freed of ours goes back to the arena. False: nothing had come.
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

// In batches, since each costs a lock. What finds no room in the mail waits for the next time.
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
    if (auto begin = arena_.take(bytes)) {  // another thread has asked just now
      arena_.give_back(*begin, bytes);
      return true;
    }
  }
  void* chunk = memory_.take_region(kChunk);
  if (chunk == nullptr) return false;
  std::lock_guard hold(mutex_);
  arena_.add(reinterpret_cast<std::uintptr_t>(chunk), kChunk);
  return true;
}

}  // namespace terrane::runtime
