#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/predict/tunables.h"
#include "protocol/steps/effects.h"

// News for many readers of a run go along a tree: the home sends them to a few, each with the
// readers that are left to it, and who receives them does the same. A home of a thousand readers
// sends as often as one of four.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Splits the readers in `arity` parts, and calls send(its first reader, its others) for each.
template <typename Send>
void spread(std::span<const NodeId> readers, std::uint32_t arity, Send send) {
  std::size_t parts = std::min<std::size_t>(arity, readers.size());
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t first = readers.size() * part / parts;
    std::size_t end = readers.size() * (part + 1) / parts;
    std::span<const NodeId> others = readers.subspan(first + 1, end - first - 1);
    if (mutant(Mutant::kNewsForgetReader) && !others.empty())
      others = others.first(others.size() - 1);
    send(readers[first], others);
  }
}

// One run of a wire::PageNews message.
struct NewsPart {
  wire::PageNews head;
  std::vector<NodeId> further;
  std::vector<std::uint32_t> serials;  // of the blocks; none where the home has to be asked
  Bytes bytes;                         // of the message: of the blocks that are not the same
};

// How many of the blocks come with their bytes.
std::uint64_t count_whole(const wire::PageNews& head);
// Appends it, but for its bytes, for the receiver that passes it on to `further`.
void put_news_head(std::vector<std::byte>& message, const NewsPart& part,
                   std::span<const NodeId> further);
// Takes one run off the message; false: it is too short.
bool take_news_part(Bytes& message, std::uint64_t block_bytes, NewsPart& part);

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
