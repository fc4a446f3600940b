#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace terrane {

// An integer that cannot be mixed up with one of another kind.
template <typename Tag, typename Rep>
struct Id {
  Rep value{};

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag, std::uint32_t>;  // a process of the job, 0 .. nodes-1
using BlockId =
    Id<struct BlockTag, std::uint64_t>;  // a coherence unit, counted from the space's start
using LockId = Id<struct LockTag, std::uint64_t>;  // below 2^32 the program's locks, then counts
using BarrierId = Id<struct BarrierTag, std::uint32_t>;
using RegionId = Id<struct RegionTag, std::uint32_t>;  // an allocation

inline constexpr NodeId kNoNode{0xffffffffu};

}  // namespace terrane
