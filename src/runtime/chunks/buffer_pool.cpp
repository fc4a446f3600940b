#include "runtime/chunks/buffer_pool.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kLooks = 16;        // lent buffers to look at, before a new one is made
constexpr std::size_t kSweepLooks = 256;  // lent buffers of one class

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Four sizes for each power of two, from a cache line on.
std::uint32_t class_of(std::uint64_t bytes) {
  std::uint64_t lines = std::max<std::uint64_t>(1, (bytes + kLine - 1) / kLine);
  if (lines <= 4) return static_cast<std::uint32_t>(lines - 1);
  auto power = static_cast<std::uint32_t>(std::bit_width(lines - 1) - 1);  // 2^power < lines
  std::uint64_t quarter = std::uint64_t{1} << (power - 2);
  std::uint64_t steps = (lines - (std::uint64_t{1} << power) + quarter - 1) / quarter;
  return static_cast<std::uint32_t>(4 * (power - 2) + 3 + steps);
}

std::uint64_t bytes_of(std::uint32_t size_class) {
  if (size_class < 4) return (size_class + 1) * kLine;
  std::uint32_t power = (size_class - 4) / 4 + 2;
  std::uint64_t step = (size_class - 4) % 4 + 1;
  std::uint64_t lines = (std::uint64_t{1} << power) + (step << (power - 2));
  std::uint64_t bytes = lines * kLine;
  return bytes < kPage ? bytes : round_up(bytes, kPage);
}

// The offset of a buffer of that size is a multiple of this.
std::uint64_t unit_of(std::uint64_t bytes) {
  return bytes < kPage ? kLine : bytes < platform::kLargePage ? kPage : platform::kLargePage;
}

}  // namespace

Buffer::~Buffer() { pool_.let_go(*this); }

bool Buffer::is_sole() const {
  return pool_.counts(pool_.region(node_), number_)[0].load(std::memory_order_acquire) == 1;
}

base::Result<std::unique_ptr<BufferPool>> BufferPool::create(Config config) {
  std::unique_ptr<BufferPool> pool(new BufferPool(std::move(config)));
  const Config& own = pool->config_;
  for (std::uint32_t i = 0; i < own.on_host.size(); ++i) {
    pool->local_.resize(std::max<std::size_t>(pool->local_.size(), own.on_host[i].value + 1u), ~0u);
    pool->local_[own.on_host[i].value] = i;
  }
  pool->next_offset_ = round_up(kBuffers * pool->stride(), kPage);
  std::uint64_t bytes = round_up(own.region_bytes, kPage) + pool->next_offset_;
  auto fd = platform::create_memfd(bytes, "terrane-chunks", platform::PageSizes::kAny);
  if (!fd) return fd.error();
  pool->fd_.reset(fd.value());
  auto mapping = platform::SharedMapping::map(pool->fd_.get(), bytes, platform::kLargePage);
  if (!mapping) return mapping.error();
  pool->memory_ = std::move(mapping).value();
  return pool;
}

std::uint64_t BufferPool::stride() const {
  return round_up(sizeof(Count) * (1 + config_.on_host.size()), kLine);
}

BufferPool::Count* BufferPool::counts(std::span<std::byte> region, std::uint32_t number) const {
  return reinterpret_cast<Count*>(region.data() + number * stride());
}

BufferPool::Count* BufferPool::own_counts(std::uint32_t number) const {
  return counts({memory_.data(), memory_.bytes()}, number);
}

std::uint32_t BufferPool::local(NodeId node) const {
  return node.value < local_.size() ? local_[node.value] : ~0u;
}

std::span<std::byte> BufferPool::region(NodeId node) const {
  if (node == config_.self) return {memory_.data(), memory_.bytes()};
  return reach_(node);
}

// A node that dies between the two leaves the sum too large, never too small.
void BufferPool::hold(Count* count, NodeId node) const {
  count[0].fetch_add(1, std::memory_order_acq_rel);
  count[1 + local(node)].fetch_add(1, std::memory_order_acq_rel);
}

void BufferPool::let_go(const Buffer& buffer) {
  Count* count = counts(region(buffer.node_), buffer.number_);
  count[1 + local(config_.self)].fetch_sub(1, std::memory_order_acq_rel);
  bool last = count[0].fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (buffer.node_ != config_.self) return;  // its own node will notice
  Slot& slot = slots_[buffer.number_];
  if (slot.lent) return;  // collect() looks at it
  if (last) {
    give_back(buffer.number_);
  } else if (count[1 + local(config_.self)].load(std::memory_order_acquire) == 0) {
    slot.lent = true;
    lent_[slot.size_class].push_back(buffer.number_);
  }
}

// The buffer is free: its memory is kept for reuse, or goes back to the machine.
void BufferPool::give_back(std::uint32_t number) {
  Slot& slot = slots_[number];
  std::uint64_t bytes = bytes_of(slot.size_class);
  std::vector<std::uint32_t>& list = free_[slot.size_class];
  if (bytes < kPage || free_bytes_ + bytes <= config_.keep_bytes) {
    free_bytes_ += bytes;
    list.push_back(number);
    return;
  }
  platform::punch_hole(fd_.get(), {slot.offset, bytes});
  resident_bytes_ -= bytes;
  slot.backed = slot.used = false;
  list.insert(list.begin(), number);
}

// Looks at a buffer that other nodes held. True: they no longer do, and it is free.
bool BufferPool::come_back(std::uint32_t number) {
  Count* count = own_counts(number);
  for (std::uint32_t dead : dead_) {
    std::uint32_t held = count[1 + dead].exchange(0, std::memory_order_acq_rel);
    if (held > 0) count[0].fetch_sub(held, std::memory_order_acq_rel);
  }
  if (count[0].load(std::memory_order_acquire) != 0) return false;
  give_back(number);
  return true;
}

// Looks at some buffers of the class that other nodes hold. True: one of them is free now.
bool BufferPool::collect(std::uint32_t size_class, std::size_t most) {
  std::deque<std::uint32_t>& lent = lent_[size_class];
  bool found = false;
  for (std::size_t looks = std::min(most, lent.size()); looks > 0; --looks) {
    std::uint32_t number = lent.front();
    lent.pop_front();
    bool held_here =
        own_counts(number)[1 + local(config_.self)].load(std::memory_order_acquire) > 0;
    slots_[number].lent = false;
    if (held_here)
      continue;  // it came back in a message; the thread here that releases it will then free it
    if (come_back(number)) {
      found = true;
    } else {
      slots_[number].lent = true;
      lent.push_back(number);
    }
  }
  return found;
}

void BufferPool::sweep() {
  for (std::uint32_t looks = 0; looks < kClasses; ++looks) {
    swept_ = (swept_ + 1) % kClasses;
    collect(swept_, kSweepLooks);
  }
}

void BufferPool::bury(NodeId dead) {
  std::uint32_t index = local(dead);
  if (index != ~0u) dead_.push_back(index);
}

base::Error BufferPool::out_of_memory(std::uint64_t bytes) const {
  return base::error(
      "no memory for {} bytes of a chunk: this node keeps {} MiB of chunks, {} buffers, and {}",
      bytes, resident_bytes_ >> 20, slots_.size(),
      errno == ENOMEM ? "the machine has no more" : "its region is used up");
}

base::Result<std::uint32_t> BufferPool::find(std::uint32_t size_class) {
  std::vector<std::uint32_t>& list = free_[size_class];
  if (list.empty() || !slots_[list.back()].backed) collect(size_class, kLooks);
  if (!list.empty()) {
    std::uint32_t number = list.back();
    list.pop_back();
    if (slots_[number].backed) free_bytes_ -= bytes_of(size_class);
    return number;
  }
  std::uint64_t bytes = bytes_of(size_class);
  std::uint64_t offset = round_up(next_offset_, unit_of(bytes));
  bool fits =
      slots_.size() < kBuffers && offset <= memory_.bytes() && bytes <= memory_.bytes() - offset;
  errno = 0;
  if (!fits) return out_of_memory(bytes);
  next_offset_ = offset + bytes;
  memory_.show_in_core(next_offset_);
  slots_.push_back({offset, size_class, false, false});
  return static_cast<std::uint32_t>(slots_.size() - 1);
}

base::Result<BufferRef> BufferPool::allocate(std::uint64_t bytes, bool zeroed) {
  std::uint32_t size_class = class_of(bytes);
  errno = 0;
  if (bytes > memory_.bytes()) return out_of_memory(bytes);
  auto found = find(size_class);
  if (!found) return found.error();
  std::uint32_t number = found.value();
  Slot& slot = slots_[number];
  std::uint64_t size = bytes_of(size_class);
  if (!slot.backed) {
    std::uint64_t from = slot.offset / kPage * kPage, to = round_up(slot.offset + size, kPage);
    if (!platform::populate_large(memory_.data() + from, to - from, large_pages_)) {
      free_[size_class].insert(free_[size_class].begin(), number);
      return out_of_memory(bytes);
    }
    slot.backed = true;
    resident_bytes_ += size;
  }
  std::byte* data = memory_.data() + slot.offset;
  if (zeroed && slot.used) std::memset(data, 0, bytes);
  slot.used = true;
  hold(own_counts(number), config_.self);
  return std::make_shared<Buffer>(*this, config_.self, number, data, bytes, slot.offset);
}

void BufferPool::lend(const Buffer& buffer, NodeId to) {
  TERRANE_CHECK(local(to) != ~0u, "buffers are lent on a host");
  hold(counts(region(buffer.node_), buffer.number_), to);
}

BufferRef BufferPool::borrow(NodeId node, std::uint32_t number, std::uint64_t offset,
                             std::uint64_t bytes) {
  if (local(node) == ~0u || number >= kBuffers) return nullptr;
  std::span<std::byte> all = region(node);
  bool inside = offset >= kBuffers * stride() && offset <= all.size() &&
                bytes <= all.size() - offset && bytes > 0;
  if (!inside) return nullptr;
  if (node == config_.self && (number >= slots_.size() || slots_[number].offset != offset ||
                               bytes_of(slots_[number].size_class) < bytes))
    return nullptr;
  return std::make_shared<Buffer>(*this, node, number, all.data() + offset, bytes, offset);
}

}  // namespace terrane::runtime::chunks
