#include "sim/schedule.h"

#include <algorithm>

namespace terrane::sim {

void Schedule::begin(base::Prng& rng, Mood mood) {
  rng_ = &rng;
  mood_ = mood;
  last_ = 0;
  picks_ = 0;
  dozing_ = false;
  burst_mask_ = (4u << rng.below(4)) - 1;   // stays for 4 to 32 picks on average
  sleep_mask_ = (32u << rng.below(4)) - 1;  // falls asleep once in 32 to 256 picks
  ready_.clear();
  std::fill(std::begin(place_), std::end(place_), kAbsent);
  std::fill(std::begin(slow_), std::end(slow_), false);
  std::fill(std::begin(asleep_until_), std::end(asleep_until_), 0);
}

ActorId Schedule::pick() {
  ++picks_;
  std::uint64_t draw = rng_->next();
  auto chance = static_cast<std::uint32_t>(draw);
  if (stays() && (chance & burst_mask_) != 0 && is_ready(last_)) return last_;
  chance >>= 8;
  auto count = static_cast<std::uint32_t>(ready_.size());
  auto at = static_cast<std::uint32_t>(((draw >> 32) * count) >> 32);
  // One that is slow or asleep is passed over, unless nobody else is there.
  for (std::uint32_t tries = 0; tries < count; ++tries, at = at + 1 == count ? 0 : at + 1) {
    ActorId actor = ready_[at];
    if (mood_ == Mood::kSlow && slow_[actor] && (chance & 63) != 0) continue;
    if (dozing_ && asleep_until_[actor] > picks_) continue;
    if (falls_asleep() && (chance & sleep_mask_) == 0 && count > 1) {
      doze(actor);
      chance = 1;
      continue;
    }
    return last_ = actor;
  }
  return last_ = ready_[at];
}

}  // namespace terrane::sim
