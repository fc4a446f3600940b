#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/chunks/chunk_copy.h"
#include "protocol/chunks/chunk_home.h"
#include "protocol/chunks/chunk_questions.h"
#include "protocol/chunks/copy_memory.h"
#include "protocol/chunks/work_client.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The client of a node: its copies, the scopes of its threads, and its requests to servers. Scopes
// of a chunk open in the order in which they were asked for.
class ChunkCache : private WorkBudget {
 public:
  // budget_bytes: for all copies together whose home is on another node.
  ChunkCache(std::uint64_t budget_bytes, const View& view, ChunkOutbox& outbox)
      : view_(view), outbox_(outbox), memory_(budget_bytes, outbox) {}

  void create(const Create& event) { questions_.create(event); }
  void find(const Find& event) { questions_.find(event); }
  void open(const Open& event);
  void close(const Close& event);
  void subscribe(const Subscribe& event);
  void unsubscribe(ChunkId chunk);
  void take(const Take& event);
  void hint(const Hint& event);
  void drop(ChunkId chunk);
  void leave(const Leave& event);
  // At the end of every step: does what a leaving node can do now.
  void go_on_leaving();
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
  const Copy* copy(ChunkId chunk) const;
  // Whether the slot has a new home that may still ask for the copies that were reported to it.
  bool awaits_home(ChunkId chunk) const {
    return std::find(rebuilding_.begin(), rebuilding_.end(), chunk.value >> 52) !=
           rebuilding_.end();
  }
  std::uint64_t used_bytes() const { return memory_.used_bytes(); }
  void check_invariants() const;

 private:
  using Room = WorkBudget::Room;
  Room reserve(ChunkId chunk, std::uint64_t bytes) override;
  void give_back(ChunkId chunk, std::uint64_t bytes) override;
  bool learn_work(ChunkId id, const ChunkMessage& message, const std::string& name);
  bool hinted(const ChunkMessage& message);
  bool give_all_back();
  bool left(NodeId from);
  void go_over(ChunkId id, Copy& copy, const Copy::Due& due);
  void gone_over(ChunkId id, Copy& copy);
  void step_back(ChunkId id, Copy& copy);
  bool found(NodeId from, const ChunkMessage& message);
  bool learn(ChunkId id, const ChunkMessage& message, const std::string& name, bool owner);
  bool granted(NodeId from, const ChunkMessage& message, Bytes tail);
  bool give_back(ChunkId id, Copy& copy, const ChunkMessage& message);
  bool refused(const ChunkMessage& message);
  bool recalled(NodeId from, const ChunkMessage& message);
  bool evicted(const ChunkMessage& message);
  bool serving(NodeId from, const ChunkMessage& message);
  void lose_home(ChunkId id, Copy& copy);
  void lose_pushed(ChunkId id, Copy& copy);
  bool is_gone(const ChunkMessage& message);
  Copy* find_copy(std::uint64_t chunk);

  bool own(ChunkId chunk) const { return home_of(chunk, view_) == outbox_.self(); }
  void enter_pushed(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  void close_pushed(ChunkId id, Copy& copy, const Close& event);
  bool granted_pushed(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message, Bytes tail);
  void tidy(ChunkId id, Copy& copy);
  bool credited(const ChunkMessage& message);
  bool updated(NodeId from, const ChunkMessage& message, Bytes tail);
  void pump(ChunkId id, Copy& copy);
  bool admit(ChunkId id, Copy& copy);
  void enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  enum class Asked : std::uint8_t { kYes, kLater, kTold };
  Asked ask(ChunkId id, Copy& copy, std::size_t at);
  void send_request(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  void yield(ChunkId id, Copy& copy, const Copy::Due& due);
  void evict(ChunkId id, Copy& copy);

  // Memory. kSoon: there will be room when evictions have ended.
  Room make_room(ChunkId id, Copy& copy);
  Room make_room(Copy& copy, std::uint64_t more);
  void wake_starved();

  const View& view_;
  ChunkOutbox& outbox_;
  CopyMemory memory_;
  std::map<std::uint64_t, Copy> copies_;
  ChunkQuestions questions_{view_, outbox_};
  WorkClient work_{*this, view_, outbox_};
  std::vector<std::uint64_t> starved_;     // chunks with a waiter that waits for memory
  std::vector<std::uint32_t> rebuilding_;  // slots whose new homes may still need the copies of
                                           // this node
  std::uint64_t uses_ = 0;
  std::optional<WaiterId> leaves_;     // the thread that waits until this node may leave
  bool asked_to_leave_ = false;        // whether the homes were asked
  std::vector<NodeId> still_to_hear_;  // homes that have not answered
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
