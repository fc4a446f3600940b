#pragma once

#include <unordered_map>
#include <vector>

#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

struct MachineConfig {
  NodeId self;
  std::uint32_t nodes = 1;
  BlockRange blocks{};              // the blocks of regions with sequential consistency
  std::uint32_t named_readers = 8;  // of a page; if there are more, all nodes are asked
  const bool* reached = nullptr;    // by node: is its memory in reach; nullptr: every node's is
};

// The part of a node that speaks in messages about pages with one writer or many readers (Li,
// Hudak: Memory coherence in shared virtual memory systems, 1989; the fixed distributed manager).
// As the home of a page it knows which nodes may have it, and serves requests one at a time, first
// come first: it recalls the page from nodes that exclude the request, and grants it when all of
// them have yielded. For the threads of its own node it sends requests to homes, and holds a recall
// back until a granted page is installed. The two halves of one node exchange no messages. Pages
// (pages.h) touches the pages themselves.
//
// Of a synchronisation page the home also knows which node has written it last, and the vector
// timestamp of that node's release when it gave the page up. A grant carries both.
class Machine {
 public:
  // timestamp: of this node, as IntervalLog has it.
  Machine(const MachineConfig& config, const std::vector<std::uint32_t>& timestamp, Outbox& outbox)
      : config_(config), timestamp_(timestamp), outbox_(outbox) {}

  void ask(const ScAsk& event);
  void await(const ScAwait& event);
  void installed(const ScInstalled& event);
  void yielded(const ScYielded& event);
  void may_give_back(const ScGiveBack& event);
  void serve_block(const ScServe& event);
  void ready(const ScReady& event);
  // Freed blocks have no holders any more.
  void drop(BlockRange blocks);
  // From the network. `home`: the home of the block, or kNoNode if its region is not known here.
  // False: malformed.
  bool received(NodeId from, Bytes message, NodeId home);

  // Whether messages may name the block: it is of a region with sequential consistency, or is or
  // was a synchronisation page.
  bool serves(std::uint64_t block) const {
    return (block >= config_.blocks.first && block < config_.blocks.end()) ||
           homes_.contains(block);
  }
  // The home of a synchronisation page; kNoNode: it is none.
  NodeId home_of(std::uint64_t block) const {
    auto at = homes_.find(block);
    return at == homes_.end() ? kNoNode : at->second;
  }
  // For checks across nodes: whether the home assumes that the node may have the page.
  bool may_hold(NodeId node, std::uint64_t block, Access access) const;
  void check_invariants() const;

 private:
  using Stamp = std::vector<std::uint32_t>;  // a vector timestamp

  struct Request {
    NodeId node;
    Access access = Access::kRead;
    bool had = false;  // for the planted fault kUpgradeAsAsked
  };
  // A page at its home: the nodes that may have it, the request that is being served and the nodes
  // whose answers it waits for, and the requests after it.
  struct Page {
    NodeId writer = kNoNode;
    bool many = false;  // there are more readers than are named
    bool recalled = false;
    Request serving;
    std::vector<NodeId> readers;
    std::vector<NodeId> awaited;
    std::vector<Request> queue;
    // Of a synchronisation page: begun is false before its ScReady; last_writer and stamp are what
    // the next holders acquire.
    bool begun = true;
    NodeId last_writer = kNoNode;
    Stamp stamp;

    bool is_reader(NodeId node) const;
    bool is_awaited(NodeId node) const;
    bool is_idle() const {
      return writer == kNoNode && readers.empty() && !many && !recalled && begun && stamp.empty();
    }
  };
  // A page that this node has asked for.
  struct Asked {
    NodeId home;
    Access access = Access::kRead;
    bool granted = false;
    bool installing = false;
    bool recalled = false;  // a recall came before the page was installed
    bool keeps_copy = false;
    NodeId writer = kNoNode;  // of a synchronisation page: what a holder acquires first
    Stamp stamp;
    std::vector<WaiterId> waiters;
  };

  // As the home (home.cpp).
  bool requested(NodeId from, std::uint64_t block, Access access);
  bool gave_back(NodeId from, const wire::ScMessage& message, Bytes stamp, Bytes bytes);
  bool returned(NodeId from, const wire::ScMessage& message, Bytes bytes);
  bool began(NodeId from, std::uint64_t block, Bytes stamp);
  void serve(std::uint64_t block, Page& page, const Request& request);
  void serve_queue(std::uint64_t block, Page& page);
  static void note_writer(Page& page, NodeId writer, Bytes stamp);
  void grant(std::uint64_t block, Page& page);
  void add_reader(std::uint64_t block, Page& page, NodeId node) const;
  void recall(std::uint64_t block, NodeId node, bool keeps_copy);

  // For our own threads (machine.cpp).
  bool granted(NodeId home, std::uint64_t block, Access access, NodeId writer, Bytes stamp,
               Bytes bytes);
  bool recalled(NodeId home, std::uint64_t block, bool keeps_copy);
  std::uint64_t install_answer(const Asked& asked, std::uint64_t block) const;

  void send(NodeId to, wire::ScMessage message, const Stamp* stamp = nullptr);
  bool take_stamp(const wire::ScMessage& head, Bytes& tail, Bytes& stamp) const;
  bool synchronises(std::uint64_t block) const { return block < config_.blocks.first; }
  bool reaches(NodeId node) const {
    return config_.reached == nullptr || config_.reached[node.value];
  }

  MachineConfig config_;
  const Stamp& timestamp_;
  Outbox& outbox_;
  std::unordered_map<std::uint64_t, Page> pages_;  // of which this node is the home
  std::unordered_map<std::uint64_t, Asked> asked_;
  // Of blocks that are synchronisation pages, or were: messages about them may still be under way.
  std::unordered_map<std::uint64_t, NodeId> homes_;
};

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
