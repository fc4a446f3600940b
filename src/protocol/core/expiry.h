#pragma once

#include <map>
#include <utility>
#include <vector>

#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The message of an eager release, before it ends, to all nodes: blocks whose copies are old. It
// goes down a tree with the releasing node at its root. Each node answers when it and its subtree
// have dropped their copies (the eager release of Omni/SCASH, with a tree in place of copysets,
// which would grow with the pages). The tree enters each cluster once.
class Expiry {
 public:
  // arity: of the tree.
  Expiry(NodeId self, const Clusters& clusters, std::uint32_t arity, Outbox& outbox);

  void begin(const ExpireCopies& event);
  // This node has dropped its copies for the expiry (origin, waiter).
  void expired(NodeId origin, WaiterId waiter);
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message, std::uint64_t blocks);

  void check_invariants() const;

 private:
  struct Round {
    std::uint32_t awaited;   // answers that are missing: of this node and of its children
    std::uint32_t children;  // a bit for each child that has not answered
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // origin, waiter

  bool received_expire(NodeId from, Bytes message, std::uint64_t blocks);
  bool received_expired(NodeId from, Bytes message);
  NodeId parent(NodeId origin) const { return clusters_.parent(self_, origin, arity_); }
  std::vector<NodeId> children(NodeId origin) const;
  void pass_on(const std::vector<NodeId>& children, Bytes message);
  void count(std::map<Key, Round>::iterator round);

  NodeId self_;
  const Clusters& clusters_;
  std::uint32_t arity_;
  Outbox& outbox_;
  std::map<Key, Round> rounds_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
