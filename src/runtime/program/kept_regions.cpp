#include "runtime/program/kept_regions.h"

#include <utility>

namespace terrane::runtime {

std::vector<KeptRegions::Region> KeptRegions::put(Region region) {
  if (region.bytes > most_) return {region};
  regions_.push_back(region);
  bytes_ += region.bytes;
  std::size_t goes = 0;
  while (bytes_ > most_ || regions_.size() - goes > kMost) bytes_ -= regions_[goes++].bytes;
  auto end = regions_.begin() + static_cast<std::ptrdiff_t>(goes);
  std::vector<Region> gone(regions_.begin(), end);
  regions_.erase(regions_.begin(), end);
  return gone;
}

std::optional<KeptRegions::Region> KeptRegions::take(std::uint64_t bytes) {
  auto best = regions_.end();
  for (auto one = regions_.begin(); one != regions_.end(); ++one) {
    bool fits = one->bytes >= bytes && one->bytes - bytes <= bytes / 8;
    if (fits && (best == regions_.end() || one->bytes <= best->bytes)) best = one;
  }
  if (best == regions_.end()) return std::nullopt;
  Region taken = *best;
  regions_.erase(best);
  bytes_ -= taken.bytes;
  return taken;
}

std::vector<KeptRegions::Region> KeptRegions::take_all() {
  bytes_ = 0;
  return std::exchange(regions_, {});
}

}  // namespace terrane::runtime
