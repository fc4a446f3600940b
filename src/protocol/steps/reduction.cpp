#include "protocol/steps/reduction.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

// Sums of integers wrap around.
template <typename T>
T combine(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::kSum:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      else
        return a + b;
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kMax:
      return std::max(a, b);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>)
    return op == ReduceOp::kAnd ? a & b : op == ReduceOp::kOr ? a | b : a ^ b;
  return a;
}

template <typename T>
void combine_all(ReduceOp op, std::vector<std::byte>& into, Bytes from) {
  static_assert(sizeof(T) == kReducedBytes);
  for (std::size_t at = 0; at < into.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, &into[at], sizeof a);
    std::memcpy(&b, &from[at], sizeof b);
    a = combine(op, a, b);
    std::memcpy(&into[at], &a, sizeof a);
  }
}

}  // namespace

void Reduction::add(const Contribution& more) {
  if (!begun_) {
    begun_ = true;
    op_ = more.op;
    type_ = more.type;
    values_.assign(more.values.begin(), more.values.end());
    return;
  }
  mark(Mark::kBarrierReduces);
  bool broadcasts = op_ == ReduceOp::kBroadcast && more.op == op_;
  bool fits =
      broadcasts ? values_.empty() || more.values.empty() : values_.size() == more.values.size();
  mismatched_ |= op_ != more.op || type_ != more.type || !fits;
  if (mismatched_ || op_ == ReduceOp::kNone) return;
  if (broadcasts) {
    values_.insert(values_.end(), more.values.begin(), more.values.end());
    return;
  }
  switch (type_) {
    case ReduceType::kInt64:
      return combine_all<std::int64_t>(op_, values_, more.values);
    case ReduceType::kUint64:
      return combine_all<std::uint64_t>(op_, values_, more.values);
    case ReduceType::kDouble:
      return combine_all<double>(op_, values_, more.values);
  }
}

void Reduction::clear() {
  begun_ = mismatched_ = false;
  op_ = ReduceOp::kNone;
  values_.clear();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
