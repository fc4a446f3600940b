#pragma once

#include <cstdint>
#include <vector>

#include "base/prng.h"

namespace terrane::sim {

// Something that can act: a thread, a handler, or a channel that has a message to deliver.
using ActorId = std::uint16_t;
inline constexpr ActorId kNoActor = 0xffff;
inline constexpr ActorId kFirstChannel = 64;  // channels are numbered from here on

enum class Mood : std::uint8_t {
  kUniform,
  kSlow,    // some actors (a node's, a thread, channels) act seldom
  kBursts,  // an actor that has acted tends to act again
  kSleepy,  // now and then an actor stops for a long time, at any point
  kMixed,   // bursts, and some actors sleep
  kFocus,   // an actor often sleeps right after steps of some kinds
  kCount,
};

// Chooses the next actor among those that can act. Depends on its random numbers alone.
class Schedule {
 public:
  static constexpr std::uint32_t kMaxActors = 64 + 256;

  // In Mood::kSlow, set_slow() then names the actors that act seldom.
  void begin(base::Prng& rng, Mood mood);
  void set_slow(ActorId actor) { slow_[actor] = true; }

  void ready(ActorId actor) {
    if (place_[actor] != kAbsent) return;
    place_[actor] = static_cast<std::uint16_t>(ready_.size());
    ready_.push_back(actor);
  }
  void park(ActorId actor) {
    std::uint16_t at = place_[actor];
    if (at == kAbsent) return;
    ActorId last = ready_.back();
    ready_[at] = last;
    place_[last] = at;
    ready_.pop_back();
    place_[actor] = kAbsent;
  }
  bool is_ready(ActorId actor) const { return place_[actor] != kAbsent; }
  bool empty() const { return ready_.empty(); }

  ActorId pick();
  // Counts a pick of this actor that a director has made.
  void take(ActorId actor) {
    ++picks_;
    last_ = actor;
  }
  const std::vector<ActorId>& ready() const { return ready_; }
  // The actor stops for a random time, short or long.
  void doze(ActorId actor) {
    asleep_until_[actor] = picks_ + rng_->below(16u << rng_->below(7));
    simple_ = false;
  }
  // From now on all actors are equally fast.
  void make_fair();
  std::uint64_t picks() const { return picks_; }

 private:
  static constexpr std::uint16_t kAbsent = 0xffff;

  ActorId pick_awake(std::uint32_t at, std::uint32_t chance);

  base::Prng* rng_ = nullptr;
  bool stays_ = false;
  bool falls_asleep_ = false;
  bool simple_ = true;  // no actor is slow, and none has slept
  ActorId last_ = 0;
  std::uint64_t picks_ = 0;
  std::uint32_t burst_mask_ = 0;
  std::uint32_t sleep_mask_ = 0;
  std::vector<ActorId> ready_;
  std::uint16_t place_[kMaxActors] = {};
  bool slow_[kMaxActors] = {};
  std::uint64_t asleep_until_[kMaxActors] = {};
};

}  // namespace terrane::sim
