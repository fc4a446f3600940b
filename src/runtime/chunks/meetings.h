#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "protocol/chunks/meeting.h"
#include "runtime/chunks/chunk_node.h"

namespace terrane::runtime::chunks {

// Locks, barriers and signals by name, made of chunks that programs do not see: a lock is an
// exclusive scope; a barrier or a signal is a count that is pushed to all nodes that wait for it.
// Any thread may call. The node outlives it.
class Meetings {
 public:
  explicit Meetings(ChunkNode& node) : node_(node) {}

  // Takes the lock: opens the scope that represents it. Closing the scope unlocks.
  Outcome lock(std::string_view name, std::int64_t timeout_ns, OpenScope& scope);
  // Waits until `count` threads of all nodes together have arrived. The next `count` threads form
  // the next barrier.
  Outcome barrier(std::string_view name, std::uint32_t count, std::int64_t timeout_ns);
  // Adds one signal; `now`: the number of signals so far.
  Outcome signal(std::string_view name, std::uint64_t& now);
  // Waits until there have been `count` signals.
  Outcome await(std::string_view name, std::uint64_t count, std::int64_t timeout_ns,
                std::uint64_t& now);

 private:
  // The count of a barrier or a signal.
  struct Count {
    ChunkId chunk;
    std::mutex mutex;
    std::condition_variable changed;
    machine::MeetingCount known;
    std::uint64_t reported = 0;  // target of the last wait that was reported
  };
  // What a thread waits for: `parties` threads of a barrier, the last of which sets the count to
  // `target`; or `target` signals (parties 0).
  struct Goal {
    std::string title;
    std::uint64_t target = 0, parties = 0;
  };
  // Counts the thread as waiting in a barrier, as long as the object lives.
  class Arrived;

  Outcome count_of(const std::string& name, Count*& count);
  // Records in the event log, when it is destroyed, how long a thread was in a call.
  class Note;

  template <typename Function>
  Outcome change(std::string_view kind, std::string_view name, Count*& count, Function function);
  Outcome wait_for(Count& count, const Goal& goal, std::uint64_t deadline_ns);
  bool take_count(Count& count, std::uint64_t until_ns, Outcome& outcome);
  static std::string progress(const Goal& goal, std::uint64_t seen);
  void report(const Count& count, const Goal& goal, std::uint64_t seen);
  static void learn(Count& count, std::uint64_t now);

  ChunkNode& node_;
  std::mutex mutex_;  // of all_; held while a count is created
  std::map<std::string, std::unique_ptr<Count>> all_;
};

}  // namespace terrane::runtime::chunks
