#pragma once

#include "protocol/chunks/chunk_questions.h"
#include "protocol/chunks/copies.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The client's side of pushed chunks: versions in buffers of their own, written by this node or
// received by subscription. Opens no waiting scope: ChunkCache does so after each call.
class PushedCopies {
 public:
  using Copy = ChunkCopy;

  PushedCopies(Copies& copies, ChunkQuestions& questions, const View& view, ChunkOutbox& outbox)
      : copies_(copies), questions_(questions), view_(view), outbox_(outbox) {}

  void subscribe(const Subscribe& event);
  // The home's answer; nobody waits for that of a subscription that has ended.
  void subscribed(const ChunkMessage& message);
  // False: this node has not subscribed.
  bool unsubscribe(ChunkId id);
  void take(const Take& event);

  // A scope opens, or ends.
  void enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  void close(ChunkId id, Copy& copy, const Close& event);
  // The answer to a request, and a version that comes by subscription. False: malformed.
  bool granted(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message, Bytes tail);
  bool updated(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message, Bytes tail);
  void refuse_tries(ChunkId id, Copy& copy);
  void tidy(ChunkId id, Copy& copy);

  // Changes a chunk's coherence: the home asks for all that the node has of it.
  void go_over(ChunkId id, Copy& copy, const Copy::Due& due);
  void gone_over(ChunkId id, Copy& copy);
  void step_back(ChunkId id, Copy& copy);
  void lose(ChunkId id, Copy& copy);

 private:
  Copies& copies_;
  ChunkQuestions& questions_;
  const View& view_;
  ChunkOutbox& outbox_;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
