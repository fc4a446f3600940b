#pragma once

#include <atomic>

// execve(2) of a program whose threads run on several nodes.
namespace terrane::frontend {

// What libterrane_threads knows of it; in other libraries there is none.
class Executing {
 public:
  // nullptr: this process is no node of such a program.
  static Executing* get() { return the_.load(std::memory_order_relaxed); }

  // The program becomes another one on all nodes, or on node 0 alone. Returns if it cannot: true,
  // with errno; false: the call is not the program's, and the kernel is to be asked.
  virtual bool fails(const char* path, char* const* arguments, char* const* environment) = 0;

 protected:
  ~Executing() = default;
  static void set(Executing* one) { the_.store(one, std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<Executing*> the_{nullptr};
};

}  // namespace terrane::frontend
