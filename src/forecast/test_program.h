#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "forecast/forecast.h"

namespace terrane::forecast {

// A program for unit tests: its ops are lists.
class TestProgram final : public Program {
 public:
  TestProgram(std::uint32_t threads, std::uint64_t pages)
      : ops_(threads), next_(threads), regions_{{0, pages, {}}} {}

  TestProgram& add(std::uint32_t thread, Op op) {
    ops_[thread].push_back(op);
    return *this;
  }
  TestProgram& add_all(Op op) {
    for (auto& list : ops_) list.push_back(op);
    return *this;
  }
  void set_regions(std::vector<Region> regions) { regions_ = std::move(regions); }
  void limit_barriers(std::function<bool(std::uint32_t, std::uint64_t)> uses) {
    uses_ = std::move(uses);
  }

  std::uint32_t threads() const override { return static_cast<std::uint32_t>(ops_.size()); }
  std::span<const Region> regions() const override { return regions_; }
  bool uses_barrier(std::uint32_t thread, std::uint64_t id) const override {
    return !uses_ || uses_(thread, id);
  }
  bool next(std::uint32_t thread, Op& op) override {
    if (next_[thread] == ops_[thread].size()) return false;
    op = ops_[thread][next_[thread]++];
    return true;
  }
  // To be played again.
  void rewind() { next_.assign(next_.size(), 0); }

 private:
  std::vector<std::vector<Op>> ops_;
  std::vector<std::size_t> next_;
  std::vector<Region> regions_;
  std::function<bool(std::uint32_t, std::uint64_t)> uses_;
};

inline constexpr Ns kMs = 1'000'000;

inline Op work(Ns ns) { return {.kind = Op::Kind::kWork, .ns = ns}; }
inline Op read(std::uint64_t page) { return {.kind = Op::Kind::kRead, .page = page}; }
inline Op write(std::uint64_t page, std::uint64_t mask = 1) {
  return {.kind = Op::Kind::kWrite, .page = page, .mask = mask};
}
inline Op of(Op::Kind kind, std::uint64_t id, std::int64_t operand = 0) {
  return {.kind = kind, .id = id, .operand = operand};
}
inline Op barrier() { return of(Op::Kind::kBarrier, 1); }

// Plays the program on so many nodes, with so many processors each.
inline Forecast play(TestProgram& program, std::uint32_t nodes, std::uint32_t processors = 1,
                     const Costs& costs = {}, const protocol::Prediction& prediction = {}) {
  program.rewind();
  return forecast(
      program,
      {.nodes = nodes, .processors = processors, .costs = costs, .prediction = prediction});
}
// The same without guesses: a lock's token does not stay for threads that may come back.
inline Forecast play_plainly(TestProgram& program, std::uint32_t nodes,
                             std::uint32_t processors = 1) {
  return play(program, nodes, processors, {}, {.kind = protocol::PredictorKind::kNever});
}

}  // namespace terrane::forecast
