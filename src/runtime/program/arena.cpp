#include "runtime/program/arena.h"

#include <algorithm>

namespace terrane::runtime {

void Arena::add(std::uintptr_t begin, std::uint64_t bytes) {
  free_bytes_ += bytes;
  give_large(begin, bytes);
}

std::optional<std::uintptr_t> Arena::take(std::uint64_t bytes) {
  std::optional<std::uintptr_t> taken;
  if (bytes > kSmall) {
    taken = take_large(bytes);
  } else if (auto& kept = small_[bytes / kGrain]; !kept.empty()) {
    taken = kept.back();
    kept.pop_back();
  } else {
    if (run_end_ - run_ < bytes) {
      if (run_ != run_end_) give_large(run_, run_end_ - run_);
      run_ = run_end_ = 0;
      std::uint64_t run = kRun;
      auto begin = take_large(run);
      if (!begin) begin = take_large(run = bytes);  // all that is left
      if (!begin) return std::nullopt;
      run_ = *begin;
      run_end_ = *begin + run;
    }
    taken = run_;
    run_ += bytes;
  }
  if (taken) free_bytes_ -= bytes;
  return taken;
}

void Arena::give_back(std::uintptr_t begin, std::uint64_t bytes) {
  free_bytes_ += bytes;
  if (bytes > kSmall) return give_large(begin, bytes);
  small_[bytes / kGrain].push_back(begin);
}

// Takes the start of the smallest range with enough room, of equal ones the lowest.
std::optional<std::uintptr_t> Arena::take_large(std::uint64_t bytes) {
  auto found = by_size_.lower_bound({bytes, 0});
  if (found == by_size_.end()) return std::nullopt;
  auto [size, begin] = *found;
  erase(by_address_.find(begin));
  if (size > bytes) insert(begin + bytes, size - bytes);
  return begin;
}

void Arena::give_large(std::uintptr_t begin, std::uint64_t bytes) {
  auto after = by_address_.lower_bound(begin);
  if (after != by_address_.end() && after->first == begin + bytes) {
    bytes += after->second;
    auto next = std::next(after);
    erase(after);
    after = next;
  }
  if (after != by_address_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      erase(before);
    }
  }
  insert(begin, bytes);
}

void Arena::insert(std::uintptr_t begin, std::uint64_t bytes) {
  by_address_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
}

void Arena::erase(std::map<std::uintptr_t, std::uint64_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  by_address_.erase(range);
}

}  // namespace terrane::runtime
