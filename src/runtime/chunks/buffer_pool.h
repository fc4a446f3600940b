#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/mapping.h"

namespace terrane::runtime::chunks {

class BufferPool;

// The memory of a version of a chunk, in the pool of one node of this host. While a Buffer exists,
// the pool does not reuse that memory. Created and destroyed under the node's mutex.
class Buffer {
 public:
  Buffer(BufferPool& pool, NodeId node, std::uint32_t number, std::byte* data, std::uint64_t bytes,
         std::uint64_t offset)
      : pool_(pool), node_(node), number_(number), data_(data), bytes_(bytes), offset_(offset) {}
  Buffer(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  // Where the memory is, as other nodes name it: the node of the pool, the buffer's number there,
  // and its offset in the pool's region.
  NodeId node() const { return node_; }
  std::uint32_t number() const { return number_; }
  std::uint64_t offset() const { return offset_; }
  // Whether there is no other holder: no other node, no message under way, no other Buffer here.
  bool is_sole() const;

 private:
  friend class BufferPool;
  BufferPool& pool_;
  NodeId node_;
  std::uint32_t number_;
  std::byte* data_;
  std::uint64_t bytes_, offset_;
};
using BufferRef = std::shared_ptr<Buffer>;

// The memory in which a node stores versions of chunks, and access to the pools of the other nodes
// of this host, which share the same bytes. A pool is one memory file, exported as a region: first,
// for each buffer, how often it is held in all and by each node; then the buffers. A buffer without
// holders is reused. Of these at most `keep_bytes` keep their memory; that of others goes back to
// the machine. Called under the node's mutex.
class BufferPool {
 public:
  struct Config {
    std::vector<NodeId> on_host;  // the nodes of this host, in the same order on all of them
    NodeId self;
    std::uint64_t region_bytes = 0;
    std::uint64_t keep_bytes = 64 << 20;
  };
  // Gives the region of another node of this host; empty: it cannot be reached.
  using Reach = std::function<std::span<std::byte>(NodeId)>;

  static base::Result<std::unique_ptr<BufferPool>> create(Config config);
  void connect(Reach reach) { reach_ = std::move(reach); }

  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return memory_.bytes(); }
  std::byte* base() const { return memory_.data(); }

  // A buffer of at least one byte, zeroed or with old contents. The error says that there is no
  // memory, and how much is in use.
  base::Result<BufferRef> allocate(std::uint64_t bytes, bool zeroed);
  // Counts `to`, a node of this host, as a holder. Called before a message names the buffer to it.
  void lend(const Buffer& buffer, NodeId to);
  // The buffer that a message of another node named; nullptr: there is no such buffer.
  BufferRef borrow(NodeId node, std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);
  // Frees what a dead node of this host held.
  void bury(NodeId dead);
  // Looks at some of the lent buffers, which other nodes may have given back. Cheap; called
  // periodically.
  void sweep();

  // Bytes of buffers that are in use, lent, or kept for reuse.
  std::uint64_t resident_bytes() const { return resident_bytes_; }

 private:
  friend class Buffer;
  static constexpr std::uint32_t kBuffers = 1u << 20;
  static constexpr std::uint32_t kClasses = 192;

  struct Slot {
    std::uint64_t offset = 0;
    std::uint32_t size_class = 0;
    bool backed = false;
    bool used = false;  // has old contents
    bool lent = false;  // in lent_
  };
  using Count = std::atomic<std::uint32_t>;

  explicit BufferPool(Config config) : config_(std::move(config)) {}
  std::uint64_t stride() const;
  // The counts of a buffer: how often it is held in all, and then by each node of the host.
  Count* counts(std::span<std::byte> region, std::uint32_t number) const;
  Count* own_counts(std::uint32_t number) const;
  std::uint32_t local(NodeId node) const;
  std::span<std::byte> region(NodeId node) const;
  void hold(Count* count, NodeId node) const;
  void let_go(const Buffer& buffer);
  void give_back(std::uint32_t number);
  bool collect(std::uint32_t size_class, std::size_t most);
  bool come_back(std::uint32_t number);
  base::Result<std::uint32_t> find(std::uint32_t size_class);
  base::Error out_of_memory(std::uint64_t bytes) const;

  Config config_;
  std::vector<std::uint32_t> local_;  // by node; ~0u: on another host
  Reach reach_;
  base::UniqueFd fd_;
  platform::SharedMapping memory_;
  bool large_pages_ = true;  // false: the machine refused them
  std::uint64_t next_offset_ = 0;
  std::vector<Slot> slots_;
  std::array<std::vector<std::uint32_t>, kClasses> free_;  // by size class; those with memory last
  std::array<std::deque<std::uint32_t>, kClasses> lent_;   // by size class; others hold them
  std::vector<std::uint32_t> dead_;                        // dead nodes: their indices on this host
  std::uint32_t swept_ = 0;                                // the size class that was swept last
  std::uint64_t free_bytes_ = 0;
  std::uint64_t resident_bytes_ = 0;
};

}  // namespace terrane::runtime::chunks
