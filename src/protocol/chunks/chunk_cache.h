#pragma once

#include <string>
#include <vector>

#include "protocol/chunks/chunk_leave.h"
#include "protocol/chunks/copies.h"
#include "protocol/chunks/pushed_copies.h"
#include "protocol/chunks/work_client.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The client of a node: opens the scopes of its threads, and sends requests to servers. Scopes of a
// chunk open in the order in which they were asked for.
class ChunkCache {
 public:
  // budget_bytes: for all copies together whose home is on another node.
  ChunkCache(std::uint64_t budget_bytes, const View& view, ChunkOutbox& outbox)
      : view_(view), outbox_(outbox), copies_(budget_bytes, view, outbox) {}

  ChunkQuestions& questions() { return questions_; }
  void open(const Open& event);
  void close(const Close& event);
  PushedCopies& pushed() { return pushed_; }
  void unsubscribe(ChunkId chunk);
  void hint(const Hint& event);
  void drop(ChunkId chunk);
  void leave(WaiterId waiter);
  // At the end of every step: does what a leaving node can do now.
  void go_on_leaving() { leaving_.go_on(); }
  void elapsed(std::uint64_t now_ns);
  // The view has changed; `before`: the epoch of the former view. Reports to new homes what this
  // node has, and repeats its questions to them.
  void view_changed(std::uint32_t before);
  // A message of a server, also of this node's own. False: malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);

  // The next deadline of a waiting thread; kNever: no thread has one.
  std::uint64_t next_deadline_ns() const;
  // This node's part of work streams.
  WorkClient& work() { return work_; }
  const WorkClient& work() const { return work_; }

  using Copy = ChunkCopy;
  const Copy* copy(ChunkId chunk) const { return copies_.find(chunk); }
  const Copies& copies() const { return copies_; }
  void check_invariants() const;

 private:
  using Room = WorkBudget::Room;
  bool found(NodeId from, const ChunkMessage& message);
  bool learn(ChunkId id, const ChunkMessage& message, const std::string& name, bool owner);
  bool hinted(const ChunkMessage& message);
  bool granted(NodeId from, const ChunkMessage& message, Bytes tail);
  bool give_back(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message);
  bool refused(const ChunkMessage& message);
  bool updated(NodeId from, const ChunkMessage& message, Bytes tail);
  bool credited(const ChunkMessage& message);

  void pump(ChunkId id, Copy& copy);
  bool admit(ChunkId id, Copy& copy);
  void enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  enum class Asked : std::uint8_t { kYes, kLater, kTold };
  Asked ask(ChunkId id, Copy& copy, std::size_t at);
  void send_request(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  void wake_starved();

  // chunk_yield.cpp: recalls and evictions
  bool recalled(NodeId from, const ChunkMessage& message);
  void yield(ChunkId id, Copy& copy, const Copy::Due& due);
  bool evicted(const ChunkMessage& message);

  // chunk_succession.cpp: homes that die
  void lose_home(ChunkId id, Copy& copy);
  bool is_gone(const ChunkMessage& message);

  const View& view_;
  ChunkOutbox& outbox_;
  Copies copies_;
  ChunkQuestions questions_{view_, outbox_};
  PushedCopies pushed_{copies_, questions_, view_, outbox_};
  WorkClient work_{copies_, view_, outbox_};
  ChunkLeave leaving_{copies_, work_, view_, outbox_};
  std::vector<std::uint64_t> starved_;  // chunks with a waiter that waits for memory
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
