#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "runtime/shmem/world.h"

// Waiting for words of our own memory that other PEs change, and testing them. All of these
// acquire: what was there before the word's change may be used after.
namespace terrane::runtime::shmem {

// The values of SHMEM_CMP_* (include/terrane/shmem/constants.h; the interface checks that they
// agree).
enum class Comparison : int { kEq = 1, kNe = 2, kGt = 3, kLe = 4, kLt = 5, kGe = 6 };
constexpr bool is_comparison(int value) { return value >= 1 && value <= 6; }

template <std::integral T>
bool compares(T left, Comparison comparison, T right) {
  switch (comparison) {
    case Comparison::kEq:
      return left == right;
    case Comparison::kNe:
      return left != right;
    case Comparison::kGt:
      return left > right;
    case Comparison::kLe:
      return left <= right;
    case Comparison::kLt:
      return left < right;
    case Comparison::kGe:
      return left >= right;
  }
  return false;
}

// Words and what they are compared with: one value for all, or one for each. Words whose `status`
// is not zero do not count; no status: all count. Owns nothing.
template <std::integral T>
class WaitSet {
 public:
  WaitSet(World& world, T* words, std::size_t count, const int* status, Comparison comparison)
      : world_(&world), words_(words), count_(count), status_(status), comparison_(comparison) {}
  WaitSet& against(T value) {
    value_ = value;
    return *this;
  }
  WaitSet& against_each(const T* values) {
    values_ = values;
    return *this;
  }

  // Tests do not wait, but let other hosts get on.
  bool test_all() const {
    get_on();
    return holds_for_all();
  }
  // The index of a word for which it holds, or SIZE_MAX. Repeated calls come to every such word.
  std::size_t test_any() const {
    get_on();
    return any();
  }
  // Fills in the indices of all words for which it holds; how many there are.
  std::size_t test_some(std::size_t* indices) const {
    get_on();
    return some(indices);
  }

  void wait_all() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (counts(i) && !holds(i)) world_->wait_until([&] { return holds(i); });
    }
  }
  // As the tests, but not before there is one; SIZE_MAX and 0 if no word counts.
  std::size_t wait_any() const {
    if (is_empty()) return SIZE_MAX;
    std::size_t found = SIZE_MAX;
    world_->wait_until([&] { return (found = any()) != SIZE_MAX; });
    return found;
  }
  std::size_t wait_some(std::size_t* indices) const {
    if (is_empty()) return 0;
    std::size_t found = 0;
    world_->wait_until([&] { return (found = some(indices)) != 0; });
    return found;
  }

 private:
  bool counts(std::size_t i) const { return status_ == nullptr || status_[i] == 0; }
  bool holds(std::size_t i) const {
    T word = std::atomic_ref<T>(words_[i]).load(std::memory_order_acquire);
    return compares(word, comparison_, values_ != nullptr ? values_[i] : value_);
  }
  void get_on() const {
    if (!world_->one_host()) world_->progress();
  }
  bool is_empty() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (counts(i)) return false;
    }
    return true;
  }
  bool holds_for_all() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (counts(i) && !holds(i)) return false;
    }
    return true;
  }
  // Begins behind the last one found, so that no word is passed over for ever.
  std::size_t any() const {
    static thread_local std::size_t begin = 0;
    for (std::size_t step = 0; step < count_; ++step) {
      std::size_t i = (begin % count_ + step) % count_;
      if (!counts(i) || !holds(i)) continue;
      begin = i + 1;
      return i;
    }
    return SIZE_MAX;
  }
  std::size_t some(std::size_t* indices) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (counts(i) && holds(i)) indices[found++] = i;
    }
    return found;
  }

  World* world_;
  T* words_;
  std::size_t count_;
  const int* status_;
  Comparison comparison_;
  T value_{};
  const T* values_ = nullptr;
};

// The value for which it holds.
template <std::integral T>
T wait_until(World& world, T* word, Comparison comparison, T value) {
  T found{};
  auto holds = [&] {
    found = std::atomic_ref<T>(*word).load(std::memory_order_acquire);
    return compares(found, comparison, value);
  };
  if (!holds()) world.wait_until(holds);
  return found;
}

}  // namespace terrane::runtime::shmem
