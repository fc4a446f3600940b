#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/node.h"

namespace terrane::runtime {

// A stack in shared memory. Its lowest page is a guard page.
struct Stack {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;

  std::byte* top() const { return base + bytes; }
};

// Stacks for the threads of this node, in shared memory whose home is this node: other nodes may
// read and write it, and no page of it is ever evicted. Stacks of threads that have ended are used
// again. Any thread may call.
class Stacks {
 public:
  explicit Stacks(Node& node) : node_(node) {}

  // A stack of at least `bytes`. Its uppermost part is present, so that the C library's own system
  // calls on it never fail. If there is no memory for it, the job ends with a sentence that names
  // the stack (`of`: "the stack of main") and why.
  Stack take(std::uint64_t bytes, std::string_view of);
  // One as large as the process's limit says, or as the node has room for: only what is used takes
  // memory.
  Stack take_for_main();
  void give_back(Stack stack);
  // The stack size of a new thread under the process's limit.
  static std::uint64_t default_bytes();

 private:
  // The same; without memory there is no base, and `why` says the reason.
  Stack try_take(std::uint64_t bytes, std::string& why);

  Node& node_;
  std::mutex mutex_;
  std::vector<Stack> idle_;
};

}  // namespace terrane::runtime
