#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/ids.h"
#include "base/result.h"
#include "transport/calls.h"
#include "transport/one_sided.h"

namespace terrane::transport {

// A transport that carries calls: those of a pair of nodes stay in the order in which they are
// sent.
class CallCarrier {
 public:
  // May be called by any thread. Copies the data. What is sent to a lost peer is dropped.
  virtual void send_call(NodeId to, const CallHeader& header, Bytes data) = 0;
  // Moves on what travels until `done` holds. Not by a receiver.
  virtual void wait_until(const std::function<bool()>& done) = 0;
  virtual bool is_in_receiver() const = 0;
  // What is sent to the peer now is only kept here.
  virtual bool is_full(NodeId peer) const = 0;
  // Whether the node's region is served by messages.
  virtual bool is_served(NodeId node, std::uint32_t region) const = 0;

 protected:
  ~CallCarrier() = default;
};

// One-sided calls toward other nodes as messages, and the service of theirs. The place of each call
// was checked against the peer's region. Any thread may call; serve() and take_answer() are for the
// thread that takes in messages. Errors: a region that is not served, a peer that is gone, a call
// in a receiver that would have to wait.
class MessageCalls {
 public:
  // `memory` has this node's own regions under `self`. A call goes in pieces of `piece_bytes`.
  MessageCalls(OneSided& memory, CallCarrier& carrier, NodeId self, std::uint32_t nodes,
               std::size_t piece_bytes)
      : memory_(memory), carrier_(carrier), self_(self), piece_(piece_bytes), calls_(nodes) {}

  base::Result<> put(NodeId peer, RemoteAddress to, Bytes from);
  base::Result<> get(NodeId peer, RemoteAddress from, WritableBytes into);
  base::Result<> get_nbi(NodeId peer, RemoteAddress from, WritableBytes into);
  base::Result<std::uint64_t> fetch(NodeId peer, RemoteAddress word, const Atomic& atomic);
  base::Result<> fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic, std::byte* into);
  base::Result<> post(NodeId peer, RemoteAddress word, const Atomic& atomic);
  base::Result<> put_and_set(NodeId peer, RemoteAddress to, Bytes from, RemoteAddress word,
                             std::uint64_t value);
  // All that was called before is done at these nodes, [first, end).
  base::Result<> flush(std::uint32_t first, std::uint32_t end);

  void serve(NodeId from, Bytes request);
  // False: it answers nothing that was asked.
  bool take_answer(NodeId from, Bytes answer);
  // Whether these bytes are an answer.
  static bool is_answer(Bytes call);

  // The peer has gone: what was asked of it fails.
  void lose(NodeId peer) { calls_.lose(peer); }
  bool is_lost(NodeId peer) { return calls_.is_lost(peer); }

 private:
  base::Result<> check_reach(NodeId peer, std::uint32_t region) const;
  base::Result<> check_wait() const;
  base::Result<> wait(NodeId peer, Calls::Outcome& outcome);
  base::Result<> ask(NodeId peer, CallHeader header, WritableBytes into, Calls::Outcome* outcome);
  base::Result<> ask_for_pieces(NodeId peer, RemoteAddress from, WritableBytes into,
                                Calls::Outcome* outcome);
  base::Result<> send_unanswered(NodeId peer, const CallHeader& header, Bytes data);
  bool perform(const CallHeader& header, Bytes data, std::uint64_t& word, Bytes& read);

  OneSided& memory_;
  CallCarrier& carrier_;
  NodeId self_;
  std::size_t piece_;
  Calls calls_;
};

}  // namespace terrane::transport
