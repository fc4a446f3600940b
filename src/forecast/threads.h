#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forecast/job.h"

namespace terrane::forecast {

// The threads of the program: which of them have a processor, and how their ops begin and end.
class Threads {
 public:
  // look: a thread of that node looks after the node before it begins an op.
  Threads(Job& job, std::function<void(std::uint32_t node)> look)
      : job_(job), look_(std::move(look)) {}

  // All are ready.
  void begin();
  std::uint32_t running() const { return running_; }
  Ns ended_at() const { return ended_at_; }  // the last one
  const std::vector<Thread*>& all() const { return threads_; }
  Thread& at(std::uint64_t number) { return *threads_[number]; }

  // Its operation, or kAwait, waits; and waits no longer.
  void wait(Thread& thread);
  void wake(Thread& thread);
  // It lets others have its processor that want one, and goes on later.
  void yield(Thread& thread);
  // The thread, which has a processor, goes on with its ops until it waits or something takes time.
  void go_on(Thread& thread);
  // The thread's operation is done.
  void finish_operation(Thread& thread);

  // A thread that waits for a signal whose time it has missed: nullptr: there is none.
  Thread* lost_wait();
  // Whether the program has ended for all that still wait (Program::ends_waiting).
  bool have_ended() const;
  // Which threads have not ended, and what they wait for.
  std::string waiting() const;

 private:
  // An event of the program.
  struct News {
    bool is_set = false;
    Ns set_at = 0;
    std::uint32_t node = 0;  // where
    std::vector<Thread*> waiting;
  };
  struct Rendezvous {
    bool is_made = false;  // its count
    std::vector<Thread*> waiting;
  };

  void make_ready(Thread& thread);
  void give_processor(Thread& thread);
  void compute(Thread& thread);
  void end_slice(Thread& thread);
  bool next_op(Thread& thread);
  void finish_op(Thread& thread);
  std::optional<double> begin_op(Thread& thread);
  std::optional<double> access(Thread& thread);
  void check(const Thread& thread, protocol::FaultResult result);
  void set_event(Thread& thread);
  bool sees_event(Thread& thread);
  void tell(std::vector<Thread*>& waiting, std::uint32_t from, Ns at);

  // synchronisation.cpp
  std::optional<double> synchronise(Thread& thread);
  std::optional<double> count(Thread& thread);
  std::optional<double> arrive(Thread& thread);
  std::uint32_t threads_here(std::uint32_t node, std::uint64_t barrier);

  Job& job_;
  const std::function<void(std::uint32_t)> look_;
  std::vector<Thread*> threads_;
  std::uint32_t running_ = 0;
  Ns ended_at_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> users_;  // of barriers, by node
  std::unordered_map<std::uint64_t, News> news_;
  std::unordered_map<std::uint64_t, std::int64_t> signals_;  // and broadcasts, by condition
  std::unordered_map<std::uint64_t, Rendezvous> rendezvous_;
  std::uint32_t latest_value_ = 0;  // of a line
};

}  // namespace terrane::forecast
