#include "sim/schedule.h"

#include <algorithm>

namespace terrane::sim {

void Schedule::begin(base::Prng& rng, Mood mood) {
  rng_ = &rng;
  stays_ = mood == Mood::kBursts || mood == Mood::kMixed;
  falls_asleep_ = mood == Mood::kSleepy || mood == Mood::kMixed;
  simple_ = mood == Mood::kUniform || mood == Mood::kBursts || mood == Mood::kFocus;
  last_ = 0;
  picks_ = 0;
  burst_mask_ = (4u << rng.below(4)) - 1;   // stays for 4 to 32 picks on average
  sleep_mask_ = (32u << rng.below(4)) - 1;  // falls asleep once in 32 to 256 picks
  ready_.clear();
  std::fill(std::begin(place_), std::end(place_), kAbsent);
  std::fill(std::begin(slow_), std::end(slow_), false);
  std::fill(std::begin(asleep_until_), std::end(asleep_until_), 0);
}

void Schedule::make_fair() {
  stays_ = falls_asleep_ = false;
  simple_ = true;
  std::fill(std::begin(slow_), std::end(slow_), false);
}

ActorId Schedule::pick() {
  ++picks_;
  std::uint64_t draw = rng_->next();
  auto chance = static_cast<std::uint32_t>(draw);
  if (stays_ && (chance & burst_mask_) != 0 && is_ready(last_)) return last_;
  auto count = static_cast<std::uint32_t>(ready_.size());
  auto at = static_cast<std::uint32_t>(((draw >> 32) * count) >> 32);
  if (simple_) return last_ = ready_[at];
  return last_ = pick_awake(at, chance >> 8);
}

// Passes over actors that are slow or asleep, unless there is no other.
ActorId Schedule::pick_awake(std::uint32_t at, std::uint32_t chance) {
  auto count = static_cast<std::uint32_t>(ready_.size());
  for (std::uint32_t tries = 0; tries < count; ++tries, at = at + 1 == count ? 0 : at + 1) {
    ActorId actor = ready_[at];
    if (slow_[actor] && (chance & 63) != 0) continue;
    if (asleep_until_[actor] > picks_) continue;
    if (falls_asleep_ && (chance & sleep_mask_) == 0 && count > 1) {
      doze(actor);
      chance = 1;
      continue;
    }
    return actor;
  }
  return ready_[at];
}

}  // namespace terrane::sim
