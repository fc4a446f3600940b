#include "runtime/processor_share.h"

#include <algorithm>
#include <bit>

namespace terrane::runtime {

ProcessorShare processor_share(const platform::ProcessorSet& ours,
                               std::span<const platform::ProcessorSet> on_host) {
  platform::ProcessorSet together = ours;
  std::uint32_t nodes = 0;
  for (const platform::ProcessorSet& set : on_host) {
    bool meets = false;
    for (std::size_t i = 0; i < set.size(); ++i) meets |= (set[i] & ours[i]) != 0;
    if (!meets) continue;
    ++nodes;
    for (std::size_t i = 0; i < set.size(); ++i) together[i] |= set[i];
  }
  std::uint32_t processors = 0;
  for (std::uint64_t word : together) processors += static_cast<std::uint32_t>(std::popcount(word));
  return {std::max(nodes, 1u), std::max(processors, 1u)};
}

}  // namespace terrane::runtime
