#include "runtime/hot_pages.h"

#include <algorithm>
#include <utility>

namespace terrane::runtime {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
// What an event costs without the waiting that is counted by itself: a microsecond, about.
constexpr std::uint32_t kEventHeat = 1;
constexpr std::uint32_t kMostHeat = 1u << 30;

void warm(std::atomic<std::uint32_t>& heat, std::uint64_t by) {
  std::uint64_t sum = heat.load(kRelaxed) + by;
  heat.store(static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kMostHeat)), kRelaxed);
}

// A page that lost its place and got it again has begun anew.
HotPages::Counts difference(const HotPages::Counts& now, const HotPages::Counts& before) {
  auto minus = [](std::uint64_t a, std::uint64_t b) { return a < b ? a : a - b; };
  return {.faults = minus(now.faults, before.faults),
          .fetched = minus(now.fetched, before.fetched),
          .refreshed = minus(now.refreshed, before.refreshed),
          .flushed = minus(now.flushed, before.flushed),
          .flushed_bytes = minus(now.flushed_bytes, before.flushed_bytes),
          .waited_ns = minus(now.waited_ns, before.waited_ns)};
}

}  // namespace

HotPages::HotPages() : places_(std::make_unique<Place[]>(kSets * kWays)), seen_(kSets * kWays) {}

// Where the page has no place it takes that of the coolest of its set.
HotPages::Place& HotPages::place_of(std::uint64_t block) {
  Place* set = &places_[(block * 0x9e3779b97f4a7c15u >> 54) % kSets * kWays];
  Place* coolest = set;
  for (std::size_t i = 0; i < kWays; ++i) {
    if (set[i].block.load(kRelaxed) == block + 1) return set[i];
    if (set[i].heat.load(kRelaxed) < coolest->heat.load(kRelaxed)) coolest = &set[i];
  }
  coolest->block.store(block + 1, kRelaxed);
  for (auto* count : {&coolest->heat, &coolest->offset, &coolest->faults, &coolest->fetched,
                      &coolest->refreshed, &coolest->flushed})
    count->store(0, kRelaxed);
  coolest->flushed_bytes.store(0, kRelaxed);
  coolest->waited_ns.store(0, kRelaxed);
  return *coolest;
}

void HotPages::note(std::uint64_t block, What what, std::uint64_t bytes) {
  Place& place = place_of(block);
  warm(place.heat, kEventHeat);
  switch (what) {
    case What::kFetched:
      place.fetched.fetch_add(1, kRelaxed);
      break;
    case What::kRefreshed:
      place.refreshed.fetch_add(1, kRelaxed);
      break;
    case What::kFlushed:
      place.flushed.fetch_add(1, kRelaxed);
      place.flushed_bytes.fetch_add(bytes, kRelaxed);
      break;
  }
}

void HotPages::note_fault(std::uint64_t block, std::uint64_t offset, std::uint64_t ns) {
  Place& place = place_of(block);
  warm(place.heat, kEventHeat + ns / 1000);
  place.offset.store(static_cast<std::uint32_t>(offset), kRelaxed);
  place.faults.fetch_add(1, kRelaxed);
  place.waited_ns.fetch_add(ns, kRelaxed);
}

HotPages::Counts HotPages::counts_of(const Place& place) {
  return {.faults = place.faults.load(kRelaxed),
          .fetched = place.fetched.load(kRelaxed),
          .refreshed = place.refreshed.load(kRelaxed),
          .flushed = place.flushed.load(kRelaxed),
          .flushed_bytes = place.flushed_bytes.load(kRelaxed),
          .waited_ns = place.waited_ns.load(kRelaxed)};
}

std::vector<HotPages::Page> HotPages::hottest(std::size_t most) {
  std::vector<std::pair<std::uint32_t, Page>> warm_ones;
  for (std::size_t i = 0; i < kSets * kWays; ++i) {
    Place& place = places_[i];
    std::uint32_t heat = place.heat.load(kRelaxed);
    std::uint64_t block = place.block.load(kRelaxed);
    if (heat == 0 || block == 0) continue;
    place.heat.store(heat / 2, kRelaxed);
    Counts now = counts_of(place);
    Counts before = seen_[i].block == block ? seen_[i].counts : Counts{};
    seen_[i] = {block, now};
    Page page{
        .block = block - 1, .offset = place.offset.load(kRelaxed), .recent = {}, .total = now};
    page.recent = difference(now, before);
    warm_ones.emplace_back(heat, page);
  }
  std::size_t count = std::min(most, warm_ones.size());
  auto hotter = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::partial_sort(warm_ones.begin(), warm_ones.begin() + static_cast<std::ptrdiff_t>(count),
                    warm_ones.end(), hotter);
  std::vector<Page> pages;
  for (std::size_t i = 0; i < count; ++i) pages.push_back(warm_ones[i].second);
  return pages;
}

}  // namespace terrane::runtime
