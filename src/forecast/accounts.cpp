#include "forecast/accounts.h"

#include <algorithm>

namespace terrane::forecast {

using Kind = Op::Kind;

void Accounts::done(const Op& op, std::uint32_t node, Ns time, Times& times) {
  switch (op.kind) {
    case Kind::kWork:
      times.computing += time;
      return;
    case Kind::kRead:
    case Kind::kWrite:
      times.faults += time;
      pages_[op.page].waited += time;
      return;
    case Kind::kAtomic:
      times.others += time;
      pages_[op.page].waited += time;
      note(op.page, node);
      return;
    case Kind::kLock:
    case Kind::kTryLock:
    case Kind::kUnlock:
      times.locks += time;
      locks_[op.id].waited += time;
      return;
    case Kind::kBarrier:
    case Kind::kGather:
      times.barriers += time;
      barriers_[op.id].waited += time;
      barriers_[op.id].arrivals += op.kind == Kind::kBarrier;
      return;
    case Kind::kArrive:
      times.barriers += time;
      locks_[op.id].waited += time;
      return;
    case Kind::kFence:
    case Kind::kSet:
    case Kind::kAwait:
      times.others += time;
      return;
    default:
      times.others += time;
      locks_[op.id].waited += time;
      return;
  }
}

namespace {

// The dearest first; those of equal cost in the order of their numbers.
template <typename Cost>
void sort(std::vector<Cost>& costs, std::uint64_t Cost::*number) {
  std::sort(costs.begin(), costs.end(), [number](const Cost& a, const Cost& b) {
    return a.waited != b.waited ? a.waited > b.waited : a.*number < b.*number;
  });
}

template <typename Cost>
std::vector<Cost> sorted(const std::unordered_map<std::uint64_t, Cost>& costs) {
  std::vector<Cost> list;
  for (const auto& [id, cost] : costs) {
    list.push_back(cost);
    list.back().id = id;
  }
  sort(list, &Cost::id);
  return list;
}

}  // namespace

void Accounts::write(Forecast& forecast) const {
  for (std::uint64_t page = 0; page < pages_.size(); ++page) {
    const Cost& cost = pages_[page];
    if (cost.waited > 0 || cost.came > 0)
      forecast.pages.push_back({page, cost.faults, cost.came, cost.waited, cost.nodes});
  }
  sort(forecast.pages, &PageForecast::page);
  forecast.locks = sorted(locks_);
  forecast.barriers = sorted(barriers_);
}

}  // namespace terrane::forecast
