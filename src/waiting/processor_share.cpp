#include "waiting/processor_share.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

namespace terrane::waiting {

ProcessorShare processor_share(const platform::ProcessorSet& ours,
                               std::span<const platform::ProcessorSet> on_machine) {
  platform::ProcessorSet together = ours;
  std::uint32_t nodes = 0;
  for (const platform::ProcessorSet& set : on_machine) {
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

std::uint64_t machine_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::uint64_t hash = 0;
  if (!std::getline(file, text)) return 0;
  for (unsigned char letter : text) hash = (hash ^ letter) * 0x100000001b3;
  return hash;
}

}  // namespace terrane::waiting
