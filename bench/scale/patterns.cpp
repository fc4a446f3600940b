#include "scale/program.h"

namespace terrane::bench::scale {
namespace {

using Kind = Op::Kind;

constexpr Ns kWork = 100'000;  // of an iteration, beside memory

Op load(std::uint64_t page, std::uint64_t value) {
  return {.kind = Kind::kLoad, .page = page, .value = value};
}
Op store(std::uint64_t page, std::uint64_t value, std::uint32_t words = kPageWords) {
  return {.kind = Kind::kStore, .page = page, .words = words, .value = value};
}
Op work(Ns ns) { return {.kind = Kind::kWork, .ns = ns}; }
Op barrier() { return {.kind = Kind::kBarrier}; }

// Nothing but a barrier: against what barriers take on real nodes.
class Bare final : public Pattern {
 public:
  std::uint64_t pages(std::uint32_t) const override { return 1; }
  void iteration(std::uint32_t, std::uint32_t, std::uint32_t, std::vector<Op>& ops) const override {
    ops.push_back(barrier());
  }
};

// Rows of a grid: each node writes its 16 pages, and reads the next ones of both neighbours, of the
// iteration before. Two grids, as Jacobi has them.
class Stencil final : public Pattern {
  static constexpr std::uint64_t kRows = 16;

 public:
  std::uint64_t pages(std::uint32_t nodes) const override { return 2 * kRows * nodes; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    std::uint64_t grid = number % 2 * kRows * nodes;
    std::uint64_t before = (number + 1) % 2 * kRows * nodes;
    if (number > 0) {
      if (node > 0) ops.push_back(load(before + node * kRows - 1, number - 1));
      if (node + 1 < nodes) ops.push_back(load(before + (node + 1) * kRows, number - 1));
    }
    for (std::uint64_t row = 0; row < kRows; ++row)
      ops.push_back(store(grid + node * kRows + row, number));
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }
};

// Each node reads a page of every other, and then writes its own again.
class Transpose final : public Pattern {
  static constexpr std::uint64_t kOwn = 8;

 public:
  std::uint64_t pages(std::uint32_t nodes) const override { return 2 * kOwn * nodes; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    std::uint64_t grid = number % 2 * kOwn * nodes;
    std::uint64_t before = (number + 1) % 2 * kOwn * nodes;
    for (std::uint32_t i = 1; i < nodes && number > 0; ++i) {
      std::uint64_t from = (node + i) % nodes;
      ops.push_back(load(before + from * kOwn + node % kOwn, number - 1));
    }
    for (std::uint64_t page = 0; page < kOwn; ++page)
      ops.push_back(store(grid + node * kOwn + page, number));
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }
};

// All nodes read a tree, whose root and upper levels they have in common; one in 8 pages changes in
// an iteration, by one node.
class Tree final : public Pattern {
  static constexpr std::uint64_t kUpper = 16;

 public:
  // Whether the region of the upper pages asks for updates.
  explicit Tree(bool updates) : updates_(updates) {}
  std::uint64_t updated() const override { return updates_ ? kUpper : 0; }
  std::uint64_t pages(std::uint32_t nodes) const override { return kUpper + 4 * nodes; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    std::uint64_t leaves = kUpper + 4 * node;
    if (number == 0) {
      for (std::uint64_t page = node; page < kUpper; page += nodes) ops.push_back(store(page, 0));
      for (std::uint64_t page = 0; page < 4; ++page) ops.push_back(store(leaves + page, 0));
    } else {
      for (std::uint64_t page = 0; page < kUpper; ++page)
        ops.push_back(load(page, last_change(page, number - 1)));
      std::uint64_t other = kUpper + 4 * ((node + number * 7) % nodes);
      ops.push_back(load(other, number - 1));
      ops.push_back(barrier());
      for (std::uint64_t page = node; page < kUpper; page += nodes)
        if (last_change(page, number) == number) ops.push_back(store(page, number, 1));
      ops.push_back(store(leaves, number, 1));
    }
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }

 private:
  // The latest iteration up to `number` in which the page was written.
  static std::uint64_t last_change(std::uint64_t page, std::uint64_t number) {
    std::uint64_t since = (number + page) % 8;
    return since > number ? 0 : number - since;
  }

  bool updates_;
};

// One node writes pages, which all others read and want to be updated.
class Broadcast final : public Pattern {
  static constexpr std::uint64_t kPages = 16;

 public:
  std::uint64_t pages(std::uint32_t) const override { return kPages; }
  std::uint64_t updated() const override { return kPages; }
  void iteration(std::uint32_t node, std::uint32_t, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    for (std::uint64_t page = 0; page < kPages && node > 0 && number > 0; ++page)
      ops.push_back(load(page, number - 1));
    ops.push_back(barrier());
    for (std::uint64_t page = 0; page < kPages && node == 0; ++page)
      ops.push_back(store(page, number));
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }
};

// Pages that go round under locks, one for each 8 nodes, which add to it in turn.
class Migratory final : public Pattern {
 public:
  std::uint64_t pages(std::uint32_t nodes) const override { return (nodes + 7) / 8; }
  void iteration(std::uint32_t node, std::uint32_t, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    std::uint64_t page = node / 8;
    if (number > 0) {
      ops.push_back({.kind = Kind::kLock, .page = page});
      ops.push_back({.kind = Kind::kAdd, .page = page, .value = 1});
      ops.push_back({.kind = Kind::kUnlock, .page = page});
    }
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }
};

// Each node writes four pages, which the next one reads.
class Producer final : public Pattern {
  static constexpr std::uint64_t kPages = 4;

 public:
  std::uint64_t pages(std::uint32_t nodes) const override { return kPages * nodes; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    if (number > 0) {
      std::uint32_t from = (node + nodes - 1) % nodes;
      for (std::uint64_t page = 0; page < kPages; ++page)
        ops.push_back(load(from * kPages + page, number - 1));
      ops.push_back(barrier());
    }
    for (std::uint64_t page = 0; page < kPages; ++page)
      ops.push_back(store(node * kPages + page, number));
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }
};

// Pages that are written once by one node, and read in order by another: other pages in each
// iteration, so that nothing is known of them.
class Sweep final : public Pattern {
  static constexpr std::uint64_t kPages = 192;
  static constexpr std::uint64_t kSets = 24;  // more than iterations

 public:
  explicit Sweep(bool downwards) : downwards_(downwards) {}
  std::uint64_t pages(std::uint32_t nodes) const override { return kSets * kPages * nodes; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    auto first = [&](std::uint32_t owner, std::uint32_t set) {
      return (set % kSets * nodes + owner) * kPages;
    };
    for (std::uint64_t i = 0; i < kPages && number > 0; ++i) {
      std::uint64_t page = downwards_ ? kPages - 1 - i : i;
      ops.push_back(load(first((node + 1) % nodes, number - 1) + page, number - 1));
    }
    for (std::uint64_t i = 0; i < kPages; ++i)
      ops.push_back(store(first(node, number) + i, number));
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }

 private:
  bool downwards_;
};

// Node 0 fills pages for all nodes, which then work on their parts for some time: each reads its
// part, or does not, and writes it, three times. Other pages each time.
class Master final : public Pattern {
  static constexpr std::uint64_t kOwn = 128;
  static constexpr std::uint64_t kSets = 6;
  static constexpr std::uint32_t kTimes = 4;  // iterations of a set, the filling among them

 public:
  explicit Master(bool reads) : reads_(reads) {}
  std::uint64_t pages(std::uint32_t nodes) const override { return kSets * kOwn * nodes; }
  void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                 std::vector<Op>& ops) const override {
    std::uint64_t set = number / kTimes % kSets * kOwn * nodes;
    std::uint64_t own = set + node * kOwn;
    if (number % kTimes == 0) {
      for (std::uint64_t page = 0; page < kOwn * nodes && node == 0; ++page)
        ops.push_back(store(set + page, number));
    } else {
      for (std::uint64_t page = 0; page < kOwn && reads_; ++page)
        ops.push_back(load(own + page, number - 1));
      for (std::uint64_t page = 0; page < kOwn; ++page) ops.push_back(store(own + page, number));
    }
    ops.push_back(work(kWork));
    ops.push_back(barrier());
  }

 private:
  bool reads_;
};

}  // namespace

std::unique_ptr<Pattern> make_pattern(std::string_view name) {
  if (name == "barrier") return std::make_unique<Bare>();
  if (name == "stencil") return std::make_unique<Stencil>();
  if (name == "transpose") return std::make_unique<Transpose>();
  if (name == "tree") return std::make_unique<Tree>(false);
  if (name == "update") return std::make_unique<Tree>(true);
  if (name == "broadcast") return std::make_unique<Broadcast>();
  if (name == "migratory") return std::make_unique<Migratory>();
  if (name == "producer") return std::make_unique<Producer>();
  if (name == "sweep") return std::make_unique<Sweep>(false);
  if (name == "downwards") return std::make_unique<Sweep>(true);
  if (name == "master") return std::make_unique<Master>(false);
  if (name == "scatter") return std::make_unique<Master>(true);
  return make_kernel(name);
}

}  // namespace terrane::bench::scale
