#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "platform/diff.h"
#include "protocol/races/race_check.h"
#include "protocol/steps/step_kinds.h"

namespace terrane::runtime {

// Races of one kind: of the same two nodes, in neighbouring bytes, at the same places of the
// program. Sent between nodes as it is.
struct RaceRecord {
  std::uint64_t first = 0;      // offset in shared memory of the first byte
  std::uint64_t bytes = 0;      // from there to the last one
  std::uint64_t times = 0;      // how often such a pair of changes was found
  std::uint32_t nodes[2] = {};  // the node whose change came first, and the other one
  std::uint32_t same_value = 0;
  // The intervals of the two nodes, of all such pairs, if they are at most so many.
  static constexpr std::uint32_t kMostPairs = 7;
  static constexpr std::uint32_t kUnknown = ~0u;  // an interval that was never closed
  std::uint32_t pairs = 0;
  std::uint32_t intervals[kMostPairs][2] = {};

  bool operator==(const RaceRecord&) const = default;
};

// Looks for races at the homes of one node on real pages (protocol/races/race_check.h), and keeps
// what is found. The steps that change homes, or compare them, take turns here. Any thread may
// call.
class HomeCheck final : private protocol::RaceSink {
 public:
  // looks: else only the twins of homes follow what is stored there.
  HomeCheck(NodeId self, std::uint32_t nodes, std::uint64_t unit, bool looks = true)
      : unit_(unit),
        looks_(looks),
        changed_(unit / 64),
        now_(unit),
        check_(self, nodes, unit, *this) {}

  // For the time of a step that makes or changes a twin of a home.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  // As RaceCheck::compare.
  std::uint64_t compare(const protocol::CompareHome& step, NodeId self, const std::byte* page,
                        std::byte* twin);
  // Stores the difference in the page and, unless it is nullptr, the twin; hold() is held. False:
  // it is malformed, and nothing was stored.
  bool apply(const protocol::ApplyDiff& step, const platform::DiffKernels& kernels, std::byte* page,
             std::byte* twin);
  // The same for an atomic operation, which was performed on the page.
  void follow(std::uint64_t block, const protocol::AtomicOp& op, std::uint64_t before,
              std::byte* twin);
  void forget(protocol::BlockRange blocks);
  // A release of the node has found what its threads have changed, and closes this interval.
  void closes(std::uint32_t interval);

  // What was found so far. At most kMostRecords; `left_out` receives how many times races were
  // found that belong to none of these.
  static constexpr std::size_t kMostRecords = 4096;
  std::vector<RaceRecord> records(std::uint64_t& left_out);

 private:
  // Block, nodes, places, same value.
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, bool>;

  void found(const protocol::Race& race) override;
  void add_pair(const protocol::Race& race, RaceRecord& record);

  const std::uint64_t unit_;
  const bool looks_;
  std::mutex mutex_;
  protocol::ByteMask changed_;
  std::vector<std::byte> now_;  // a block with the bytes of a difference at their places
  std::map<Key, RaceRecord> found_;
  std::uint64_t left_out_ = 0;
  bool has_unknown_ = false;  // an interval in a record
  protocol::RaceCheck check_;
};

}  // namespace terrane::runtime
