#include "forecast/message.h"

#include <bit>

namespace terrane::forecast {

// How many differences a flush has; what it takes on a real node.
static std::uint64_t differences_in(const std::vector<std::byte>& flush, std::size_t& bytes) {
  constexpr std::size_t kLineBytes = kPageBytes / kLines;
  wire::Bytes rest(flush);
  wire::Flush head;
  wire::FlushedBlock block;
  Difference diff;
  wire::take(rest, head);
  bytes = sizeof head;
  std::uint64_t count = 0;
  for (; wire::take(rest, block) && wire::take(rest, diff); ++count)
    bytes += sizeof block + static_cast<std::size_t>(std::popcount(diff.changed)) * kLineBytes;
  return count;
}

std::size_t size_of(const std::vector<std::byte>& bytes) {
  if (static_cast<wire::Kind>(bytes[0]) != wire::Kind::kFlush) return bytes.size();
  std::size_t size = 0;
  differences_in(bytes, size);
  return size;
}

double cost_of(const Message& message, const Costs& costs) {
  double cost = costs.handle;
  double pages = static_cast<double>(message.size / kPageBytes);
  std::size_t ignored = 0;
  switch (message.kind()) {
    case wire::Kind::kPageFetch: {
      wire::PageFetch request;
      wire::Bytes bytes(message.bytes);
      wire::take(bytes, request);
      return cost + static_cast<double>(request.blocks) * costs.copy_page;
    }
    case wire::Kind::kPageData:
      return cost + pages * costs.copy_page;
    case wire::Kind::kPagePush: {
      wire::PagePush head;
      wire::Bytes bytes(message.bytes);
      wire::take(bytes, head);
      return cost + costs.step * (head.further > 0) + pages * costs.copy_page;
    }
    case wire::Kind::kFlush:
      return cost +
             static_cast<double>(differences_in(message.bytes, ignored)) * costs.compare_page;
    case wire::Kind::kOwnerRequest:
    case wire::Kind::kOwnerReply:
    case wire::Kind::kSubscriptionEnd:
    case wire::Kind::kFlushed:
    case wire::Kind::kAtomicReply:
      return cost;
    default:
      return cost + costs.step;
  }
}

}  // namespace terrane::forecast
