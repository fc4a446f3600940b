#pragma once

#include <string>
#include <utility>
#include <variant>

namespace example {

// One sentence for the person at the terminal: which file or option, what is wrong, what to do.
struct Failure {
  std::string sentence;
};

// A value, or the sentence that says why there is none.
template <typename T = std::monostate>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const std::string& sentence() const { return std::get<1>(state_).sentence; }

 private:
  std::variant<T, Failure> state_;
};

inline Outcome<> success() { return Outcome<>(std::monostate{}); }

}  // namespace example
