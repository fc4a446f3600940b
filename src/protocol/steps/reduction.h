#pragma once

#include <cstdint>
#include <vector>

#include "protocol/steps/instrument.h"
#include "wire/message.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

using wire::Bytes;

// kBroadcast: at most one thread gives values, and all get them; if none does, all get nothing.
enum class ReduceOp : std::uint8_t { kNone, kSum, kMin, kMax, kAnd, kOr, kXor, kBroadcast };
enum class ReduceType : std::uint8_t { kInt64, kUint64, kDouble };

inline constexpr std::size_t kReducedBytes = 8;   // size of an element of any type
inline constexpr std::size_t kMaxReduced = 1024;  // most elements of a reduction

// What a thread, or a subtree of nodes, gives to a reduction at a barrier. kAnd, kOr and kXor are
// for integers only. Owns nothing.
struct Contribution {
  ReduceOp op = ReduceOp::kNone;
  ReduceType type = ReduceType::kInt64;
  Bytes values;

  bool is_empty() const {
    return op == ReduceOp::kNone || (op == ReduceOp::kBroadcast && values.empty());
  }
};

// The contributions to one round of a barrier, combined element by element in the order of their
// arrival. All have to have the same operation, type and number of elements; else it is mismatched.
class Reduction {
 public:
  void add(const Contribution& more);
  void mismatch() { mismatched_ = true; }
  void clear();

  Contribution combined() const { return {op_, type_, values_}; }
  bool mismatched() const { return mismatched_; }
  // No contribution has values, and none differs from the others in kind.
  bool is_plain() const { return combined().is_empty() && !mismatched_; }

 private:
  bool begun_ = false;
  bool mismatched_ = false;
  ReduceOp op_ = ReduceOp::kNone;
  ReduceType type_ = ReduceType::kInt64;
  std::vector<std::byte> values_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
