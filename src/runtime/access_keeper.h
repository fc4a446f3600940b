#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "platform/mapping.h"
#include "protocol/races/access_check.h"
#include "protocol/steps/block_table.h"
#include "protocol/steps/step_kinds.h"

namespace terrane::runtime {

// Who sees what the program's threads access (`--check=races=reads`): a front-end.
struct AccessSource {
  // Appends what was seen since the last call; `first` is an address. One thread at a time.
  void (*take)(std::vector<protocol::AccessedBytes>& to) = nullptr;
  // The instruction there has faulted: it may be seen once more.
  void (*see_again)(std::uintptr_t instruction) = nullptr;
};

// Keeps what the threads of a node have accessed, by interval, to the end of the job. Any thread
// may call.
class AccessKeeper {
 public:
  AccessKeeper(NodeId self, std::uint64_t unit) : self_(self), unit_(unit), log_(kMostKept) {}

  // Before threads of the program run.
  void set_source(const AccessSource& source);
  // In the handler of a fault, of the instruction there.
  void faulted(std::uintptr_t instruction) const {
    if (source_.see_again != nullptr) source_.see_again(instruction);
  }
  // As the step says. `entries`: of all blocks.
  void close(protocol::CloseAccesses& step, const platform::DualMapping& mapping,
             const protocol::BlockEntry* entries);
  // What was accessed there belongs to memory that is freed, or to copies that have gone.
  void forget(const platform::DualMapping& mapping, protocol::BlockRange blocks);

  // What the report needs, once no thread runs: the blocks that were accessed, in their order, each
  // as its number << kShift, with flags; and what was accessed in some of them.
  std::vector<std::uint64_t> blocks(const protocol::BlockEntry* entries) const;
  std::vector<std::byte> accesses_in(std::span<const std::uint64_t> blocks) const;
  std::uint64_t left_out() const { return log_.left_out(); }

  static constexpr std::uint64_t kWritten = 1, kSynchronises = 2, kShift = 2;

 private:
  void take(const platform::DualMapping& mapping);

  static constexpr std::uint64_t kMostKept = 2 << 20;
  const NodeId self_;
  const std::uint64_t unit_;
  AccessSource source_;
  std::mutex mutex_;
  std::vector<protocol::AccessedBytes> open_;  // of no interval yet
  std::vector<protocol::AccessedBytes> seen_;
  protocol::AccessLog log_;
};

// The blocks of the lists of all nodes that two nodes have accessed, and one has written, and that
// never left the protocol.
std::vector<std::uint64_t> shared_blocks(std::span<const std::vector<std::uint64_t>> lists);
// What accesses_in() has said, of a job of so many nodes; what is malformed is left out.
std::vector<protocol::AccessInterval> read_accesses(std::span<const std::byte> bytes,
                                                    std::uint32_t nodes);

}  // namespace terrane::runtime
