#pragma once

#include <span>

#include "base/prng.h"
#include "sim/actor.h"
#include "sim/node.h"

namespace terrane::sim {

// One word of a difference as the simulator writes it into a flush message.
struct PostedWord {
  std::uint64_t value;
  std::uint32_t at;
  std::uint32_t bytes;  // which of it, a bit each
};

// Performs the one-sided steps that touch blocks, views and peers' words, as the machine would:
// those that move bytes or go over ranges in random pieces, between which others act. Refuses
// (Violation) what a real machine would refuse.
class Mover {
 public:
  explicit Mover(std::vector<Node>& nodes) : nodes_(nodes) {}

  void begin(base::Prng& rng, const Setup& setup);
  // Goes on with the actor's step; true when it is complete and its result is in the strand.
  bool perform(Actor& actor);

 private:
  using Step = protocol::Step;

  bool perform_typed(Actor& a);
  // Of step_kinds.h; each as perform() says.
  bool perform(Actor& a, protocol::LoadWord& step);
  bool perform(Actor& a, protocol::SwapWord& step);
  bool perform(Actor& a, protocol::SetWanted& step);
  bool perform(Actor& a, protocol::CountFlush& step);
  bool perform(Actor& a, protocol::CountGiving& step);
  bool perform(Actor& a, protocol::SendBuffer& step);
  bool perform(Actor& a, protocol::ReadBlock& step);
  bool perform(Actor& a, protocol::ApplyDiff& step);
  bool perform(Actor& a, protocol::PerformAtomic& step);
  bool perform(Actor& a, protocol::LoadOwner& step);
  bool perform(Actor& a, protocol::ClaimOwner& step);
  bool perform(Actor& a, protocol::CountOwned& step);
  bool take_news(Actor& a, const Step& step);
  void take_granted(Actor& a, const Step& step);
  bool copy_home(Actor& a, const Step& step);
  bool store_home(Actor& a, const Step& step);
  bool copy_block(Progress& p, const std::byte* from, std::byte* to);
  bool merge(Actor& a, const Step& step);
  bool copy_twin(Actor& a, const Step& step);
  bool store_diff(Actor& a, const Step& step);
  void load_and_compare(Progress& p, const std::byte* block, const std::byte* twin);
  void post(Actor& a, std::uint32_t at, std::uint64_t value, std::uint64_t bytes);
  void store_some(Progress& p, std::byte* home);
  bool meet(Actor& a, const Step& step);
  bool claim_owner(Progress& p, std::uint32_t* owners, std::uint64_t count, std::uint32_t claim,
                   std::uint32_t& result);
  bool whole_range(Actor& a, const Step& step);
  void one_block(Actor& a, const Step& step, std::uint64_t block);
  void scan(Actor& a, const Step& step, std::uint64_t block);
  void take_wanted(Actor& a);
  void word_step(Actor& a, const Step& step);
  // How many small pieces are done before others act.
  std::uint32_t pieces();

  std::vector<Node>& nodes_;
  base::Prng* rng_ = nullptr;
  std::uint32_t block_bytes_ = 64;
  std::uint32_t fine_ = 30;  // how often a step is cut, of 128
  std::uint32_t nodes_in_job_ = 1;
  std::uint32_t patience_ = 1;  // looks at a round of a barrier
  bool scan_ = true;
  bool whole_steps_ = false;
  std::uint32_t populate_fails_percent_ = 0;
};

}  // namespace terrane::sim
