#pragma once

#include <memory>
#include <string_view>

#include "sim/campaign.h"
#include "sim/generate.h"
#include "sim/history.h"

namespace terrane::sim {

// Plays the history of a seed: draws the program, then runs it under a schedule of the same seed.
// Owns the memory of both and reuses it for the next seed.
class Player {
 public:
  Outcome play(const Shape& shape, std::uint64_t seed, bool careful, Trace* trace) {
    draw(shape, seed);
    return history_->run(program_, schedule_seed_, careful, trace);
  }
  void draw(const Shape& shape, std::uint64_t seed) {
    base::Prng rng(seed);
    generator_.generate(rng, shape, program_);
    Setup& setup = program_.setup;
    setup.prediction = shape.prediction;
    // Four of every eight seeds, seed 1 among them. Which four changes from one eight to the next,
    // because every eighth history is checked more carefully.
    bool half = (seed / 8 + seed) % 2 == 1;
    setup.predicts_at_random =
        shape.random_predictions == Mix::kMix ? half : shape.random_predictions == Mix::kOnly;
    setup.prediction_seed = seed;
    schedule_seed_ = rng.next();
  }

  const Program& program() const { return program_; }
  std::uint64_t schedule_seed() const { return schedule_seed_; }
  History& history() { return *history_; }

 private:
  Generator generator_;
  Program program_;
  std::uint64_t schedule_seed_ = 0;
  std::unique_ptr<History> history_ = std::make_unique<History>();
};

// The shape of the histories, with the options' protocol.
Shape shape_of(const CampaignOptions& options);
// Sets the planted fault of the calling thread. The name is one of mutant_names() or "None".
void choose_mutant(std::string_view name);

}  // namespace terrane::sim
