#pragma once

#include <cstddef>
#include <cstdint>

// What a task depends on: addresses, each with the kind of its clause `depend`.
namespace terrane::frontend::omp {

class Dependences {
 public:
  Dependences() = default;
  // From the list that the compiler makes; nullptr: none. Owned by this object, a copy.
  explicit Dependences(void* const* list);
  Dependences(Dependences&& other) noexcept;
  Dependences& operator=(Dependences&& other) noexcept;
  ~Dependences();

  // Whether a task with these has to wait for a task that was created before it.
  bool wait_for(const Dependences& earlier) const;

 private:
  // With the numbers that a `depobj` holds.
  enum Kind : std::uint64_t { kIn = 1, kOut = 2, kInOut = 3, kMutex = 4, kInOutSet = 5 };
  struct One {
    const void* address;  // nullptr: all memory
    Kind kind;
  };

  void read(void* const* list);
  static bool conflict(const One& later, const One& earlier);

  One* all_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace terrane::frontend::omp
