#include "transport/regions.h"

#include <mutex>
#include <utility>

namespace terrane::transport {

void Regions::add(NodeId node, UniqueFd fd, std::uint64_t bytes, std::byte* base) {
  Region& region = nodes_.at(node.value).emplace_back();
  if (base == nullptr) region.fd = std::move(fd);
  region.bytes = bytes;
  region.data.store(base);
}

std::uint64_t Regions::bytes(NodeId node, std::uint32_t index) const {
  if (node.value >= nodes_.size() || index >= nodes_[node.value].size()) return 0;
  return nodes_[node.value][index].bytes;
}

std::byte* Regions::reach(NodeId node, std::uint32_t index) {
  if (node.value >= nodes_.size() || index >= nodes_[node.value].size()) return nullptr;
  Region& region = nodes_[node.value][index];
  if (std::byte* data = region.data.load(std::memory_order_acquire)) return data;
  std::lock_guard lock(mapping_);
  if (!region.fd) return region.data.load(std::memory_order_relaxed);
  // One attempt: a caller that got nullptr once goes on with messages.
  UniqueFd fd = std::move(region.fd);
  // Its owner may have large pages there.
  std::uint64_t alignment = region.bytes < platform::kLargePage ? 0 : platform::kLargePage;
  auto mapping = platform::SharedMapping::map(fd.get(), region.bytes, alignment);
  if (!mapping) return nullptr;
  region.mapping = std::move(mapping).value();
  region.data.store(region.mapping.data(), std::memory_order_release);
  return region.mapping.data();
}

}  // namespace terrane::transport
