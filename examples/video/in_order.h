#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace video {

// Restores order: pictures come with their numbers in any order and leave as 0, 1, 2, ...
template <typename Held>
class InOrder {
 public:
  // False: this picture has come before, and `held` is not kept.
  bool add(std::uint64_t number, Held held) {
    return number >= next_ && waiting_.emplace(number, std::move(held)).second;
  }
  // The next picture, if it has come.
  std::optional<Held> next() {
    const auto first = waiting_.begin();
    if (first == waiting_.end() || first->first != next_) return std::nullopt;
    std::optional<Held> held(std::move(first->second));
    waiting_.erase(first);
    ++next_;
    return held;
  }
  std::uint64_t next_number() const { return next_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  std::map<std::uint64_t, Held> waiting_;
  std::uint64_t next_ = 0;
};

}  // namespace video
