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
// a handler. Handlers run one after the other in one thread, which this owns. Any thread may call.
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

 private:
  struct Subscription {
    Work work;
    base::UniqueFd event;
    bool queued = false;
  };

  void run();
  void queue(ChunkId chunk, Subscription& subscription);

  const std::uint64_t patience_ms_;
  const std::function<std::string(ChunkId)> title_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ChunkId, Subscription> all_;
  std::deque<ChunkId> queue_;
  ChunkId running_ = protocol::chunks::kNoChunk;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace terrane::runtime::chunks
