#include "runtime/shmem/segment_directory.h"

#include <algorithm>

namespace terrane::runtime::shmem {
namespace {

// The last of `sorted` whose `key` is not above `wanted`, if `wanted` lies in it.
template <typename Key>
const Segment* find(const std::vector<Segment>& sorted, std::uint64_t wanted, Key key) {
  auto after =
      std::upper_bound(sorted.begin(), sorted.end(), wanted,
                       [key](std::uint64_t value, const Segment& s) { return value < s.*key; });
  if (after == sorted.begin()) return nullptr;
  const Segment& found = *std::prev(after);
  return wanted - found.*key < found.bytes ? &found : nullptr;
}

}  // namespace

void SegmentDirectory::add(const Segment& segment) {
  const Tables* old = now_.load(std::memory_order_relaxed);
  auto tables = old == nullptr ? std::make_unique<Tables>() : std::make_unique<Tables>(*old);
  auto insert = [&](std::vector<Segment>& sorted, auto key) {
    sorted.insert(
        std::upper_bound(sorted.begin(), sorted.end(), segment,
                         [key](const Segment& a, const Segment& b) { return a.*key < b.*key; }),
        segment);
  };
  insert(tables->by_address, &Segment::address);
  insert(tables->by_offset, &Segment::offset);
  now_.store(tables.get(), std::memory_order_release);
  all_.push_back(std::move(tables));
}

std::optional<std::uint64_t> SegmentDirectory::locate(std::uintptr_t address,
                                                      std::uint64_t bytes) const {
  const Tables* tables = now_.load(std::memory_order_acquire);
  if (tables == nullptr) return std::nullopt;
  const Segment* found = find(tables->by_address, address, &Segment::address);
  if (found == nullptr) return std::nullopt;
  std::uint64_t inside = address - found->address;
  if (bytes > found->bytes - inside) return std::nullopt;
  return found->offset + inside;
}

std::byte* SegmentDirectory::at(std::uint64_t offset) const {
  const Tables* tables = now_.load(std::memory_order_acquire);
  if (tables == nullptr) return nullptr;
  const Segment* found = find(tables->by_offset, offset, &Segment::offset);
  if (found == nullptr) return nullptr;
  return reinterpret_cast<std::byte*>(found->address + (offset - found->offset));
}

std::size_t SegmentDirectory::size() const {
  const Tables* tables = now_.load(std::memory_order_acquire);
  return tables == nullptr ? 0 : tables->by_address.size();
}

}  // namespace terrane::runtime::shmem
