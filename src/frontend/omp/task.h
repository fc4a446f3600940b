#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "frontend/omp/team.h"

// What the tasks of this node, and those that move between nodes, are made of.
namespace terrane::frontend::omp {

// A task, until it has ended and those that it has created have.
struct Task {
  Task* parent = nullptr;
  Function* function = nullptr;
  void* data = nullptr;
  Group* group = nullptr;
  TaskPool* pool = nullptr;  // of its team
  Controls controls;
  bool is_final = false;
  bool is_bare = false;                    // without variables
  Task* next = nullptr;                    // of those that are lent together
  const void* unit = nullptr;              // a part of a loan: the address of the loan's first task
  struct Late* late = nullptr;             // of the thread that keeps it (late_tasks.h)
  std::atomic<std::uint32_t> children{0};  // that have not ended
  std::atomic<std::uint32_t> references{1};  // its own, and those of its children
};

// A thread that finds nothing to do gives its processor away, and then sleeps, longer and longer.
class Pause {
 public:
  Pause() = default;
  // One of so many threads of this node: the more they are, the longer it sleeps, so that all of
  // them together leave the processors to those that have something to do.
  explicit Pause(std::uint32_t threads)
      : longest_us_(std::clamp(kSleepUsOfThread * threads, kLongestSleepUs, kLongestOfManyUs)) {}

  void operator()() {
    if (++times_ < kSpins) {
      __builtin_ia32_pause();
    } else if (times_ < kYields) {
      ::sched_yield();
    } else {
      ::usleep(sleep_us_);
      sleep_us_ = std::min(2 * sleep_us_, longest_us_);
    }
  }
  void restart() {
    times_ = 0;
    sleep_us_ = kFirstSleepUs;
  }

 private:
  static constexpr std::uint32_t kSpins = 64, kYields = 96, kFirstSleepUs = 20;
  static constexpr std::uint32_t kLongestSleepUs = 500, kLongestOfManyUs = 20'000;
  static constexpr std::uint32_t kSleepUsOfThread = 25;
  std::uint32_t times_ = 0, sleep_us_ = kFirstSleepUs, longest_us_ = kLongestSleepUs;
};

// Holds a flag of this node while it lives.
class Hold {
 public:
  explicit Hold(std::atomic<bool>& busy) : busy_(busy) {
    Pause pause;
    while (busy_.exchange(true, std::memory_order_acquire)) pause();
  }
  ~Hold() { busy_.store(false, std::memory_order_release); }
  Hold(const Hold&) = delete;

 private:
  std::atomic<bool>& busy_;
};

inline bool is_descendant(const Task* task, const Task* of) {
  for (const Task* parent = task->parent; parent != nullptr; parent = parent->parent)
    if (parent == of) return true;
  return false;
}

inline constexpr std::uint32_t kMostOfALoan = 16;  // tasks

// At most so many of the oldest tasks of one of this node's queues, linked, and in none of them
// afterwards: those that one task has created, of one group. nullptr: there is none.
Task* take_oldest(std::uint32_t at_most);
// Whether a queue of this node has tasks.
bool has_queued();
// How many tasks the calling thread's queue has.
std::uint32_t queued_here();
// Tasks go back to the head of the calling thread's queue.
void put_back(Task* first);

// Tasks of this node have ended, here or on the node that they were lent to.
void finish(Task* first);

// Runs tasks that another node has lent to this one, and all that they create. The first one is
// given by its address in the memory of that node.
void run_loan(const Task* first);

}  // namespace terrane::frontend::omp
