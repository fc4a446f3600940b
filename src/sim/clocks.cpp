#include "sim/clocks.h"

namespace terrane::sim {

void Clocks::begin(std::uint32_t threads) {
  count_ = threads;
  for (std::uint32_t t = 0; t < threads; ++t) {
    threads_[t].fill(0);
    for (std::uint32_t& round : round_of_[t]) round = 0;
  }
  for (Clock& clock : locks_) clock.fill(0);
  fenced_.fill(0);
  for (auto& rounds : rounds_)
    for (Round& round : rounds) round = {};
}

void Clocks::join(Clock& into, const Clock& from) const {
  for (std::uint32_t t = 0; t < count_; ++t)
    if (from[t] > into[t]) into[t] = from[t];
}

void Clocks::enter(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all) {
  Round& round = rounds_[barrier][round_of_[thread][barrier] % 2];
  if (round.entered == all) round = {};
  ++round.entered;
  join(round.clock, threads_[thread]);
}

bool Clocks::gather(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all) {
  const Round& round = rounds_[barrier][round_of_[thread][barrier] % 2];
  join(threads_[thread], round.clock);
  return round.entered == all - 1;
}

bool Clocks::leave(std::uint32_t thread, std::uint32_t barrier, std::uint32_t all) {
  Round& round = rounds_[barrier][round_of_[thread][barrier]++ % 2];
  join(threads_[thread], round.clock);
  return round.entered == all;
}

}  // namespace terrane::sim
