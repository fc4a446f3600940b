#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "protocol/steps/atomic.h"
#include "protocol/steps/effects.h"

// One-sided steps of an operation, a struct each: its fields, and as `result`, where there is one,
// what the host answers. Each is performed alone; other threads and nodes act between any two of
// them.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

struct NewsPart;

// The node's home word of the block.
struct LoadWord {
  static constexpr std::string_view kName = "LoadWord";
  NodeId node;
  BlockId block;
  std::uint32_t result = 0;
};
// The same, compare-and-swap. Result: whether the word was `expected`.
struct SwapWord {
  static constexpr std::string_view kName = "SwapWord";
  NodeId node;
  BlockId block;
  std::uint32_t expected = 0;
  std::uint32_t desired = 0;
  bool result = false;
};
// At the node: a reader without tracking wants the block. Result: that was set already.
struct SetWanted {
  static constexpr std::string_view kName = "SetWanted";
  NodeId node;
  BlockId block;
  bool result = false;
};
// A thread of ours begins to store at homes, or has ended. Others see it (kLoadFlushing).
struct CountFlush {
  static constexpr std::string_view kName = "CountFlush";
  bool begins = false;
};
// A thread of ours begins to copy a block for a node that takes its home, or has ended
// (kLoadGiving).
struct CountGiving {
  static constexpr std::string_view kName = "CountGiving";
  bool begins = false;
};
// Room for the bytes of so many blocks on their way out, the strand's until it asks again.
struct SendBuffer {
  static constexpr std::string_view kName = "SendBuffer";
  std::uint64_t blocks = 0;
  std::byte* result = nullptr;
};
// Our block -> `to`. Not atomic.
struct ReadBlock {
  static constexpr std::string_view kName = "ReadBlock";
  BlockId block;
  std::byte* to = nullptr;
};
// The bytes that a difference (kPostDiff) names -> our block. Not atomic. Result: whether it is
// well formed.
struct ApplyDiff {
  static constexpr std::string_view kName = "ApplyDiff";
  BlockId block;
  Bytes diff;
  bool result = false;
};
// The operation on the node's copy of the block. Result: what the word was.
struct PerformAtomic {
  static constexpr std::string_view kName = "PerformAtomic";
  NodeId node;
  BlockId block;
  AtomicOp op;
  std::uint64_t result = 0;
};
// Our directory's entry of the block: its owner + 1, or 0.
struct LoadOwner {
  static constexpr std::string_view kName = "LoadOwner";
  BlockId block;
  std::uint32_t result = 0;
};
// The same, compare-and-swap 0 -> `owner`; of several blocks until one is another's. Result: the
// entry of the first one afterwards.
struct ClaimOwner {
  static constexpr std::string_view kName = "ClaimOwner";
  BlockRange blocks;
  std::uint32_t owner = 0;
  std::uint32_t result = 0;
};
// Result: how many of the blocks, from the first one on, have this entry in our directory.
struct CountOwned {
  static constexpr std::string_view kName = "CountOwned";
  BlockRange blocks;
  std::uint32_t owner = 0;
  std::uint64_t result = 0;
};
// A message to the node, or where that is this node at once to itself. Result: whether this node
// has taken its own.
struct SendMessage {
  static constexpr std::string_view kName = "SendMessage";
  NodeId to;
  Bytes head;
  Bytes tail{};
  bool result = true;
};
// A push joins what is collected for the node, which passes it on to `further`.
struct SendPush {
  static constexpr std::string_view kName = "SendPush";
  const NewsPart* part = nullptr;
  NodeId to;
  std::span<const NodeId> further;
};
// What is collected goes.
struct SendPushes {
  static constexpr std::string_view kName = "SendPushes";
};
// A push that has come is kept for kTakeNews. Result: whether there is room.
struct KeepPush {
  static constexpr std::string_view kName = "KeepPush";
  const NewsPart* part = nullptr;
  bool result = false;
};

using TypedStep = std::variant<LoadWord, SwapWord, SetWanted, CountFlush, CountGiving, SendBuffer,
                               ReadBlock, ApplyDiff, PerformAtomic, LoadOwner, ClaimOwner,
                               CountOwned, SendMessage, SendPush, SendPushes, KeepPush>;

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
