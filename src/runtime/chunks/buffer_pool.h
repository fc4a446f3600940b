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

// Memory of a chunk's version, in the pool of one node of this host. Keeps it from being used for
// anything else; made and destroyed under the node's mutex.
class Buffer {
 public:
  Buffer(BufferPool& pool, NodeId node, std::uint32_t number, std::byte* data, std::uint64_t bytes,
         std::uint64_t offset)
      : pool_(pool), node_(node), number_(number), data_(data), bytes_(bytes), offset_(offset) {}
  Buffer(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  // Where it is, for other nodes: whose pool, its number there, and its place in the region.
  NodeId node() const { return node_; }
  std::uint32_t number() const { return number_; }
  std::uint64_t offset() const { return offset_; }
  // Whether nobody else has it: no other node, no message under way, no other Buffer here.
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

// The memory in which a node makes versions of chunks, and the way to that of the other nodes of
// this host, which look at the very same bytes. One memory file, exported as a region: how often
// each buffer is held and by which nodes, then the buffers. A buffer that nobody holds is used
// again; beyond `keep_bytes` of such, their memory goes back to the machine. Called under the
// node's mutex.
class BufferPool {
 public:
  struct Config {
    std::vector<NodeId> on_host;  // the nodes of this host, in the same order on all of them
    NodeId self;
    std::uint64_t region_bytes = 0;
    std::uint64_t keep_bytes = 64 << 20;
  };
  // The region of another node of this host; empty: it cannot be reached.
  using Reach = std::function<std::span<std::byte>(NodeId)>;

  static base::Result<std::unique_ptr<BufferPool>> create(Config config);
  void connect(Reach reach) { reach_ = std::move(reach); }

  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return memory_.bytes(); }
  std::byte* base() const { return memory_.data(); }

  // Memory of at least a byte; zeroed, or with whatever was there. The error tells that there is
  // none, and how much is in use.
  base::Result<BufferRef> allocate(std::uint64_t bytes, bool zeroed);
  // Before a message names the buffer to `to`, a node of this host.
  void lend(const Buffer& buffer, NodeId to);
  // What a message of another node named; nullptr: there is no such buffer.
  BufferRef borrow(NodeId node, std::uint32_t number, std::uint64_t offset, std::uint64_t bytes);
  // What a dead node of this host held is free.
  void bury(NodeId dead);
  // Looks after a part of what others held and may have given back. Cheap; call it now and then.
  void sweep();

  // Of buffers that are in use, lent, or kept for the next.
  std::uint64_t resident_bytes() const { return resident_bytes_; }

 private:
  friend class Buffer;
  static constexpr std::uint32_t kBuffers = 1u << 20;
  static constexpr std::uint32_t kClasses = 192;

  struct Slot {
    std::uint64_t offset = 0;
    std::uint32_t size_class = 0;
    bool backed = false;
    bool used = false;  // holds what somebody wrote
    bool lent = false;  // in lent_
  };
  using Count = std::atomic<std::uint32_t>;

  explicit BufferPool(Config config) : config_(std::move(config)) {}
  std::uint64_t stride() const;
  // How often a buffer is held: by all, and then by each node of the host.
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
  bool large_pages_ = true;  // may be had
  std::uint64_t next_offset_ = 0;
  std::vector<Slot> slots_;
  std::array<std::vector<std::uint32_t>, kClasses> free_;  // by size class; those with memory last
  std::array<std::deque<std::uint32_t>, kClasses> lent_;   // not held here, but elsewhere
  std::vector<std::uint32_t> dead_;                        // local numbers
  std::uint32_t swept_ = 0;                                // the class that is looked at next
  std::uint64_t free_bytes_ = 0;
  std::uint64_t resident_bytes_ = 0;
};

}  // namespace terrane::runtime::chunks
