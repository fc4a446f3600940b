#pragma once

namespace terrane::base {

// Functions as one, chosen by the argument: what std::visit takes.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace terrane::base
