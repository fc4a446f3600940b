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

// A node's part as a client: its copies, the scopes that its threads hold, and what it has asked
// its servers for. Scopes of a chunk open in the order in which they were asked for.
class ChunkCache : private WorkBudget {
 public:
  // budget_bytes: of all copies together that have their home elsewhere.
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
  // At the end of every step: what a node that leaves can do by now.
  void go_on_leaving();
  void elapsed(std::uint64_t now_ns);
  // The view has changed; `before`: the epoch of the one before it. Tells new homes what this node
  // has, and asks them what it had asked the old ones.
  void view_changed(std::uint32_t before);
  // From a server, also this node's own; false: malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);

  // The next deadline of a waiting thread; kNever: there is none.
  std::uint64_t next_deadline_ns() const;
  // This node's part of work streams.
  WorkClient& work() { return work_; }
  const WorkClient& work() const { return work_; }

  using Copy = ChunkCopy;
  const Copy* copy(ChunkId chunk) const;
  // The home that the slot has come to may still ask for the copies that were reported to it.
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

  // Memory. kSoon: there will be some once evictions are over.
  Room make_room(ChunkId id, Copy& copy);
  Room make_room(Copy& copy, std::uint64_t more);
  void wake_starved();

  const View& view_;
  ChunkOutbox& outbox_;
  CopyMemory memory_;
  std::map<std::uint64_t, Copy> copies_;
  ChunkQuestions questions_{view_, outbox_};
  WorkClient work_{*this, view_, outbox_};
  std::vector<std::uint64_t> starved_;     // chunks whose front waiter waits for memory
  std::vector<std::uint32_t> rebuilding_;  // slots whose new homes may still need our copies
  std::uint64_t uses_ = 0;
  std::optional<WaiterId> leaves_;     // the thread that waits until this node may leave
  bool asked_to_leave_ = false;        // the homes
  std::vector<NodeId> still_to_hear_;  // those that have not answered
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
