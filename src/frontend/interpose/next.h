#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace terrane::frontend {

// The function of this name behind ours (RTLD_NEXT). Ends the process where there is none.
void* find_next(const char* name);

template <std::size_t kSize>
struct Name {
  constexpr Name(const char (&from)[kSize]) { std::copy_n(from, kSize, text); }
  char text[kSize];
};

// One function behind ours, looked up when the library is loaded, or before that when it is called
// before that.
template <Name kName, typename Function>
class Next {
 public:
  static Function* get() {
    static_cast<void>(early_);
    Function* found = found_.load(std::memory_order_relaxed);
    return found != nullptr ? found : look_up();
  }

 private:
  static Function* look_up() {
    auto* found = reinterpret_cast<Function*>(find_next(kName.text));
    found_.store(found, std::memory_order_relaxed);
    return found;
  }
  static constinit inline std::atomic<Function*> found_{nullptr};
  static inline const bool early_ = look_up() != nullptr;
};

// The function of this name behind ours; nullptr: the C library is too old to have it. Looked up at
// each call.
void* find_next_if_any(const char* name);

// next<"read">(::read)(fd, ...): the argument gives the type alone.
template <Name kName, typename Function>
Function* next(Function&) {
  return Next<kName, Function>::get();
}

}  // namespace terrane::frontend
