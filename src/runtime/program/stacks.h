#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/node.h"

namespace terrane::runtime {

// A stack in shared memory. Its lowest page is a guard.
struct Stack {
  std::byte* base = nullptr;  // nullptr: there is none
  std::uint64_t bytes = 0;

  std::byte* top() const { return base + bytes; }
};

// Stacks for the threads of this node, in shared memory whose home it is: others may read and write
// what lies there, and no page of it ever goes. Stacks of threads that have ended serve again. Any
// thread.
class Stacks {
 public:
  explicit Stacks(Node& node) : node_(node) {}

  // At least so many bytes. Its uppermost part is present, so that the C library's own system calls
  // on it never fail.
  Stack take(std::uint64_t bytes);
  void give_back(Stack stack);
  // What the process's limit gives a thread.
  static std::uint64_t default_bytes();

 private:
  Node& node_;
  std::mutex mutex_;
  std::vector<Stack> idle_;
};

}  // namespace terrane::runtime
