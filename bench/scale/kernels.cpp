// The programs of Omni/SCASH's authors, in their sizes: which pages a node reads and writes between
// two barriers, and how long one processor computes in an iteration.
#include <algorithm>

#include "scale/program.h"

namespace terrane::bench::scale {
namespace {

using Kind = Op::Kind;

// An iteration of one processor, an AMD EPYC in a virtual machine: Laplace by gcc -O2, the NAS
// Parallel Benchmarks 3.4 of class A by gfortran -O3 (EP as a whole).
constexpr Ns kLaplaceSweep = 1'050'000;
constexpr Ns kEpWhole = 5'580'000'000;
constexpr Ns kBtIteration = 177'000'000;
constexpr Ns kSpIteration = 46'000'000;

Op barrier() { return {.kind = Kind::kBarrier}; }
Op work(Ns ns) { return {.kind = Kind::kWork, .ns = ns}; }

struct Words {
  std::uint64_t first, end;
};

// The part of a node when so many things are dealt in blocks.
Words block(std::uint64_t things, std::uint32_t node, std::uint32_t nodes) {
  return {things * node / nodes, things * (node + 1) / nodes};
}

// An operation for each page of these words.
void touch(Kind kind, Words words, std::uint64_t value, std::vector<Op>& ops) {
  for (std::uint64_t at = words.first; at < words.end;) {
    std::uint64_t next = std::min(words.end, (at / kPageWords + 1) * kPageWords);
    ops.push_back({.kind = kind,
                   .page = at / kPageWords,
                   .from = static_cast<std::uint32_t>(at % kPageWords),
                   .words = static_cast<std::uint32_t>(next - at),
                   .value = value});
    at = next;
  }
}

// Laplace's equation, 1024 x 1024: a copy of one's rows, and then the mean of four neighbours.
class Laplace final : public Pattern {
  static constexpr std::uint64_t kRows = 1024, kRow = 16, kGrid = kRows * kRow;  // words

 public:
  std::uint64_t pages(std::uint32_t) const override { return 2 * kGrid / kPageWords; }
  Ns computing() const override { return kLaplaceSweep; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    Words rows = block(kRows, node, nodes);
    Words own{rows.first * kRow, rows.end * kRow}, copy{own.first + kGrid, own.end + kGrid};
    touch(Kind::kStore, copy, number, ops);
    ops.push_back(work(kLaplaceSweep / nodes / 2));
    ops.push_back(barrier());
    if (node > 0) touch(Kind::kLoad, {copy.first - kRow, copy.first}, number, ops);
    if (node + 1 < nodes) touch(Kind::kLoad, {copy.end, copy.end + kRow}, number, ops);
    touch(Kind::kStore, own, number, ops);
    ops.push_back(work(kLaplaceSweep / nodes / 2));
    ops.push_back(barrier());
  }
};

// EP: pairs of random numbers, and at the end sums that all threads add to.
class Ep final : public Pattern {
 public:
  std::uint64_t pages(std::uint32_t) const override { return 1; }
  Ns computing() const override { return kEpWhole; }
  void iteration(std::uint32_t, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    if (number > 0) {
      ops.push_back(work(kEpWhole / nodes));
      ops.push_back({.kind = Kind::kLock});
      ops.push_back({.kind = Kind::kAdd, .value = 1});
      ops.push_back({.kind = Kind::kUnlock});
    }
    ops.push_back(barrier());
  }
};

// BT and SP on 64 x 64 x 64 points: planes are dealt in blocks, for all but the solution along the
// third axis, where each node has some rows of every plane.
class Solver final : public Pattern {
  static constexpr std::uint64_t kSide = 64;
  // Words of a plane: five numbers a point of the solution and of the right side, and one of each
  // of six quantities that are derived from it.
  static constexpr std::uint64_t kFive = kSide * kSide * 5 / 64, kOne = kSide * kSide / 64;
  static constexpr std::uint64_t kDerived = 6;
  static constexpr std::uint64_t kRight = kSide * kFive, kQuantities = 2 * kRight;

 public:
  // used: quantities that the solution along the third axis reads; barriers: of an iteration.
  Solver(Ns iteration, std::uint64_t used, std::uint32_t barriers)
      : iteration_(iteration), used_(used), barriers_(barriers) {}
  std::uint64_t pages(std::uint32_t) const override {
    return (kQuantities + kDerived * kSide * kOne) / kPageWords;
  }
  Ns computing() const override { return iteration_; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    Words planes = block(kSide, node, nodes);
    Ns part = iteration_ / nodes / barriers_;
    std::uint64_t old = 3 * number, made = old + 1, solved = old + 2, next = old + 3;
    if (number == 0) touch(Kind::kStore, {planes.first * kFive, planes.end * kFive}, old, ops);
    derive(planes, made, ops);
    compute(2, part, ops);
    if (planes.first > 0)
      read({std::max<std::uint64_t>(planes.first, 2) - 2, planes.first}, planes.first - 1, old,
           ops);
    if (planes.end < kSide)
      read({planes.end, std::min(planes.end + 2, kSide)}, planes.end, old, ops);
    touch(Kind::kStore, in(kRight, kFive, planes), made, ops);
    compute(barriers_ - 4, part, ops);
    Words rows = block(kSide, node, nodes);
    for (std::uint64_t plane = 0; plane < kSide; ++plane) {
      touch(Kind::kLoad, rows_of(plane * kFive, kFive, rows), old, ops);
      for (std::uint64_t q = 0; q < used_; ++q)
        touch(Kind::kLoad, rows_of(quantity(q) + plane * kOne, kOne, rows), made, ops);
      Words right = rows_of(kRight + plane * kFive, kFive, rows);
      touch(Kind::kLoad, right, made, ops);
      touch(Kind::kStore, right, solved, ops);
    }
    compute(1, part, ops);
    touch(Kind::kLoad, in(kRight, kFive, planes), solved, ops);
    touch(Kind::kStore, in(0, kFive, planes), next, ops);
    compute(1, part, ops);
  }

 private:
  static std::uint64_t quantity(std::uint64_t number) {
    return kQuantities + number * kSide * kOne;
  }
  static Words in(std::uint64_t array, std::uint64_t plane_words, Words planes) {
    return {array + planes.first * plane_words, array + planes.end * plane_words};
  }
  static Words rows_of(std::uint64_t plane, std::uint64_t words, Words rows) {
    return {plane + rows.first * words / kSide, plane + rows.end * words / kSide};
  }
  static void compute(std::uint32_t barriers, Ns part, std::vector<Op>& ops) {
    for (std::uint32_t i = 0; i < barriers; ++i) {
      ops.push_back(work(part));
      ops.push_back(barrier());
    }
  }
  void derive(Words planes, std::uint64_t value, std::vector<Op>& ops) const {
    for (std::uint64_t q = 0; q < kDerived; ++q)
      touch(Kind::kStore, in(quantity(q), kOne, planes), value, ops);
  }
  // Planes of a neighbour: of the solution, and the next one of each quantity.
  static void read(Words planes, std::uint64_t next, std::uint64_t old, std::vector<Op>& ops) {
    touch(Kind::kLoad, in(0, kFive, planes), old, ops);
    for (std::uint64_t q = 0; q < kDerived; ++q)
      touch(Kind::kLoad, in(quantity(q), kOne, {next, next + 1}), old + 1, ops);
  }

  Ns iteration_;
  std::uint64_t used_;
  std::uint32_t barriers_;
};

}  // namespace

std::unique_ptr<Pattern> make_kernel(std::string_view name) {
  if (name == "laplace") return std::make_unique<Laplace>();
  if (name == "ep") return std::make_unique<Ep>();
  if (name == "bt") return std::make_unique<Solver>(kBtIteration, 2, 10);
  if (name == "sp") return std::make_unique<Solver>(kSpIteration, 3, 14);
  return nullptr;
}

}  // namespace terrane::bench::scale
