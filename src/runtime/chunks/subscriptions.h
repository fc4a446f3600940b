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

// How the program hears of versions that came: by a descriptor that poll(2) finds readable, or by a
// handler. Handlers run one after the other in one thread of ours, which this owns. Any thread may
// call.
class Subscriptions {
 public:
  // Takes one version that came and works on it; false: there is none.
  using Work = std::function<bool()>;

  // patience_ms: after so long remove() reports the handler that it waits for; 0: never.
  Subscriptions(std::uint64_t patience_ms, std::function<std::string(ChunkId)> title)
      : patience_ms_(patience_ms), title_(std::move(title)) {}
  ~Subscriptions();

  // `work` may be empty.
  void add(ChunkId chunk, Work work);
  // Returns once the handler is done, unless it is called by it.
  void remove(ChunkId chunk);
  std::vector<ChunkId> chunks() const;
  // Something came. Under the engine's mutex.
  void notice(ChunkId chunk);

  // Belongs to the subscription; -1: there is none, or the system gives none (errno).
  int descriptor(ChunkId chunk);
  // Before something is taken, and after something was.
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
