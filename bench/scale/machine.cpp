#include "scale/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "forecast/machine.h"
#include "scale/memory_count.h"

namespace terrane::bench::scale {

namespace {

constexpr std::uint32_t kLinesOfWord = forecast::kLines / kPageWords;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "scale: %s\n", what.c_str());
  std::exit(1);
}

// A pattern as the program of a thread for each node. Checks what the threads read, and counts what
// the nodes do from iteration `warm` on.
class Player final : public forecast::Program, public forecast::Observer {
 public:
  Player(const Pattern& pattern, std::uint32_t nodes, std::uint32_t warm, std::uint32_t last)
      : pattern_(pattern), threads_(nodes), warm_(warm), last_(last) {
    std::uint64_t pages = pattern.pages(nodes), updated = pattern.updated();
    sums_.resize(pages);
    protocol::RegionPolicy update{.propagation = protocol::Propagation::kUpdate};
    if (updated > 0) regions_.push_back({0, updated, update});
    if (updated < pages) regions_.push_back({updated, pages - updated, {}});
  }
  void watch(const forecast::Machine& machine) { machine_ = &machine; }

  std::uint32_t threads() const override { return static_cast<std::uint32_t>(threads_.size()); }
  std::span<const forecast::Region> regions() const override { return regions_; }

  bool next(std::uint32_t number, forecast::Op& out) override {
    Thread& thread = threads_[number];
    while (thread.next == thread.ops.size()) {
      if (number == 0 && thread.iteration == warm_) mark_start();
      if (number == 0 && thread.iteration == last_) ended_ = machine_->now();
      if (thread.iteration == last_) return false;
      thread.ops.clear();
      thread.next = 0;
      pattern_.iteration(number, threads(), thread.iteration++, thread.ops);
    }
    thread.op = thread.ops[thread.next++];
    out = played(thread.op);
    return true;
  }

  void works_for(std::uint32_t node) override { MemoryCount::work_for(node); }

  void accesses(std::uint32_t number, const forecast::Op&, const std::uint32_t* lines) override {
    const Op& op = threads_[number].op;
    std::uint32_t found = lines[op.from * kLinesOfWord];
    if (op.kind == Op::Kind::kLoad && found != op.value)
      fail(fmt::format("node {} reads {} from page {} in iteration {}, not {}", number, found,
                       op.page, threads_[number].iteration - 1, op.value));
    std::uint64_t before = sums_[op.page] - op.value;
    if (op.kind == Op::Kind::kAdd && found != before)
      fail(fmt::format("node {} finds {} in page {}, not {}", number, found, op.page, before));
  }

  Result result() const;

 private:
  struct Thread {
    std::vector<Op> ops;
    std::size_t next = 0;
    std::uint32_t iteration = 0;
    Op op;  // that is done now
  };

  void mark_start() {
    started_ = machine_->now();
    for (std::uint32_t n = 0; n < threads(); ++n) before_.push_back(machine_->tally(n));
  }
  forecast::Op played(const Op& op);

  const Pattern& pattern_;
  const forecast::Machine* machine_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<forecast::Region> regions_;
  std::vector<std::uint64_t> sums_;  // what kAdd has made of each page
  std::uint32_t warm_, last_;
  Ns started_ = 0, ended_ = 0;
  std::vector<forecast::Tally> before_;
};

// Only one thread at a time adds to a page, under its lock.
forecast::Op Player::played(const Op& op) {
  using Kind = forecast::Op::Kind;
  auto value = static_cast<std::uint32_t>(op.value);
  switch (op.kind) {
    case Op::Kind::kWork:
      return {.kind = Kind::kWork, .ns = op.ns};
    case Op::Kind::kLock:
      return {.kind = Kind::kLock, .id = op.page};
    case Op::Kind::kUnlock:
      return {.kind = Kind::kUnlock, .id = op.page};
    case Op::Kind::kBarrier:
      return {.kind = Kind::kBarrier};
    case Op::Kind::kLoad:
      return {.kind = Kind::kRead, .page = op.page};
    case Op::Kind::kAdd:
      value = static_cast<std::uint32_t>(sums_[op.page] += op.value);
      return {
          .kind = Kind::kWrite, .value = value, .page = op.page, .mask = (1u << kLinesOfWord) - 1};
    default:
      break;
  }
  std::uint64_t lines = std::uint64_t{op.words} * kLinesOfWord;
  std::uint64_t mask = lines == 64 ? ~0ull : (1ull << lines) - 1;
  return {.kind = Kind::kWrite,
          .value = value,
          .page = op.page,
          .mask = mask << op.from * kLinesOfWord};
}

Result Player::result() const {
  Result result;
  std::uint32_t counted = last_ - warm_;
  double turns = static_cast<double>(counted) * threads();
  result.per_iteration = (ended_ - started_) / counted;
  for (std::uint32_t n = 0; n < threads(); ++n) {
    const forecast::Tally &before = before_[n], &after = machine_->tally(n);
    result.messages += static_cast<double>(after.messages - before.messages) / turns;
    result.bytes += static_cast<double>(after.bytes - before.bytes) / turns;
    result.faults += static_cast<double>(after.faults - before.faults) / turns;
    result.fetched += static_cast<double>(after.fetched - before.fetched) / turns;
    auto received = static_cast<double>(after.received - before.received) / counted;
    result.most_received = std::max(result.most_received, received);
    result.most_memory = std::max(result.most_memory, MemoryCount::most_of(n));
    result.most_entries = std::max(result.most_entries, machine_->known(n));
  }
  return result;
}

}  // namespace

Result Machine::run(std::uint32_t warm, std::uint32_t counted) {
  MemoryCount::clear();
  Player player(pattern_, nodes_, warm, warm + counted);
  forecast::Setup setup{.nodes = nodes_, .costs = costs_, .prediction = prediction_};
  forecast::Machine machine(player, setup, &player);
  player.watch(machine);
  forecast::Forecast played = machine.run();
  if (!played.stuck.empty()) fail(played.stuck);
  return player.result();
}

}  // namespace terrane::bench::scale
