#pragma once

#include <sys/resource.h>
#include <time.h>

#include <atomic>

// What a process has used of processors and memory, in a program whose threads run on several
// nodes: what all nodes have used.
namespace terrane::frontend {

struct Used {
  rusage self{}, children{};
  timespec processor{};  // CLOCK_PROCESS_CPUTIME_ID
};

// What libterrane_threads knows of it; in other libraries there is none.
class ProcessUse {
 public:
  // nullptr: this process is no node of such a program, or its only one.
  static ProcessUse* get() { return the_.load(std::memory_order_relaxed); }

  // Adds what the other nodes have used, if the program asks. Each of them is asked, one after the
  // other: sums of calls that are ordered never become smaller.
  virtual void add_others(Used& used) = 0;

 protected:
  ~ProcessUse() = default;
  static void set(ProcessUse* one) { the_.store(one, std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<ProcessUse*> the_{nullptr};
};

}  // namespace terrane::frontend
