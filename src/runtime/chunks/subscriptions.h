#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "protocol/chunks/chunk_effects.h"

namespace terrane::runtime::chunks {

using protocol::chunks::ChunkId;

// How the program learns of versions that came: by a descriptor that is readable for poll(2), or by
// a handler. Handlers take turns: one at a time runs, in a thread that this owns. A handler that
// has to wait in a call gives its turn to others, since the call may wait for what they do. Any
// thread may call.
class Subscriptions {
 public:
  // Takes one version that came and calls the handler with it; false: there is none.
  using Work = std::function<bool()>;

  // patience_ms: remove() reports a handler for which it waits longer; 0: never.
  Subscriptions(std::uint64_t patience_ms, std::function<std::string(ChunkId)> title)
      : patience_ms_(patience_ms), title_(std::move(title)) {}
  ~Subscriptions();

  // `work` may be empty.
  void add(ChunkId chunk, Work work);
  // Returns when the handler does not run any more, or at once if the handler itself calls it.
  void remove(ChunkId chunk);
  std::vector<ChunkId> chunks() const;
  // A version has come. Called under the engine's mutex.
  void notice(ChunkId chunk);

  // The subscription's descriptor; -1: there is no subscription, or the system gives none (errno).
  int descriptor(ChunkId chunk);
  // Called before a version is taken, and after one was taken.
  void before_take(ChunkId chunk);
  void after_take(ChunkId chunk);

  // The calling thread is about to wait in a call. If it runs a handler, others may run meanwhile.
  static void give_turn();
  // The call is about to return. If it has given the turn of its handler, waits to get it back.
  static void take_turn();

 private:
  struct Subscription {
    Work work;
    base::UniqueFd event;
    bool queued = false;
  };
  // What the calling thread does.
  struct Running {
    Subscriptions* owner = nullptr;  // nullptr: it runs no handler
    ChunkId chunk = protocol::chunks::kNoChunk;
    bool has_turn = false;
  };

  void run();
  void run_next(std::unique_lock<std::mutex>& hold);
  void queue(ChunkId chunk, Subscription& subscription);
  bool may_run() const;
  bool is_running(ChunkId chunk) const;
  std::deque<ChunkId>::iterator next_to_run();
  void end_turn();
  void start_thread();

  const std::uint64_t patience_ms_;
  const std::function<std::string(ChunkId)> title_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ChunkId, Subscription> all_;
  std::deque<ChunkId> queue_;
  std::vector<ChunkId> running_;  // whose handlers run: one has the turn, the others wait in calls
  bool turn_taken_ = false;
  std::uint32_t returning_ = 0;  // handlers that wait to get their turn back
  bool stopping_ = false;
  std::uint32_t idle_ = 0;  // threads that run no handler
  std::vector<std::thread> threads_;

  static thread_local Running running_here_;
};

}  // namespace terrane::runtime::chunks
