#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "runtime/shmem/world.h"

// Waits for and tests of words of our own memory that other PEs change. All of them acquire: what
// was stored before the change of the word is visible afterwards.
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

// Words, and the values with which they are compared: one for all, or one for each. Words whose
// `status` is not zero are ignored; status nullptr: none is. Owns nothing.
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

  // Tests do not wait, but give other hosts a chance to make progress.
  bool test_all() const {
    get_on();
    return holds_for_all();
  }
  // The index of a word that compares true, or SIZE_MAX. Repeated calls find every such word.
  std::size_t test_any() const {
    get_on();
    return any();
  }
  // Stores the indices of all words that compare true; returns their number.
  std::size_t test_some(std::size_t* indices) const {
    get_on();
    return some(indices);
  }

  void wait_all() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (counts(i) && !holds(i)) world_->wait_until([&] { return holds(i); });
    }
  }
  // Like the tests, but wait until there is such a word; SIZE_MAX and 0 if all words are ignored.
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
  // Begins after the word that was found last, so that each word is found at some time.
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

// Waits until the word compares true; returns its value.
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
