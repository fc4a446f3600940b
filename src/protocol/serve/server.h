#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/push/push_tree.h"
#include "protocol/push/sent_pushes.h"
#include "protocol/push/subscribers.h"
#include "protocol/serve/at_home.h"
#include "protocol/steps/block_table.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

struct ServerConfig {
  NodeId self;
  const BlockEntry* entries = nullptr;  // of this node; nullptr: it may be every block's home
  const Clusters* clusters = nullptr;   // nullptr: all nodes are in one cluster
  std::uint32_t nodes = 1;
  bool check_races = false;  // HlrcConfig::check_races
  std::uint64_t blocks = 0;
  std::size_t block_bytes = 4096;
  std::uint32_t push_arity = kPushArity;    // nodes to which one node sends or passes on a push
  std::size_t most_sent = kMostSentPushes;  // blocks whose last push is remembered ...
  std::uint32_t sent_whole = kWholePushes;  // ... and how often each is sent whole, at least
};

// Serves nodes that cannot reach this node's memory: answers their requests, applies their
// differences, pushes blocks to them and passes pushes on. The functions are coroutines that stop
// at each one-sided step, as operations do. They wait for no node, only for moments in which
// threads of this node hold a lock. Owns what the node knows of the blocks that it pushed.
class Server {
 public:
  static constexpr std::uint32_t kMaxRun = AtHome::kMaxRun;

  Server(const ServerConfig& config, Subscribers& subscribers)
      : config_(config),
        subscribers_(subscribers),
        sent_(config.block_bytes, config.most_sent, config.sent_whole) {}
  Server(const Server&) = delete;

  // Whether serve() handles this message.
  static bool serves(Bytes message);
  // Does what the message asks for. `message`: owned by the caller until the operation ends. False:
  // it is malformed. Messages are served one at a time, in the order of each sender.
  Task<bool> serve(Strand& s, NodeId from, Bytes message);

  // Appends this node's block (wire::GrantedBlock) to a lock's grant for `to` or, if `to` has
  // subscribed to it, to an arrival.
  Task<> grant(Strand& s, NodeId to, std::uint64_t block, std::vector<std::byte>& grant);
  // Pushes the run to the readers for barrier exit `number`. whole: also the bytes of blocks that
  // have not changed since the last push. By any thread.
  Task<> push(Strand& s, BlockRange run, std::span<const NodeId> readers, std::uint32_t number,
              bool whole);

 private:
  bool in_space(std::uint64_t block, std::uint32_t blocks) const;
  Task<bool> fetch(Strand& s, NodeId reader, Bytes message);
  Task<bool> flush(Strand& s, NodeId from, Bytes message);
  Task<bool> own(Strand& s, NodeId from, Bytes message);
  Task<bool> atomic(Strand& s, NodeId from, Bytes message);
  Task<bool> end_subscription(Strand& s, NodeId from, Bytes message);
  Task<bool> take_push(Strand& s, NodeId from, Bytes message);

  Task<FetchResult> read_for(Strand& s, BlockRange run, std::span<const NodeId> readers,
                             std::byte* out);
  bool take_known(Bytes& message, std::vector<std::uint32_t>& known) const;
  Task<bool> apply(Strand& s, wire::Flush& flush, std::span<const std::uint32_t> known,
                   const wire::FlushedBlock& block, Bytes diff);
  bool is_sound(const wire::FlushedBlock& block, std::size_t left) const;
  bool is_sound(const PushPart& part) const;
  Task<> spread(Strand& s, const PushPart& part);
  Task<> hold_sent(Strand& s);
  Task<> release_sent(Strand& s);

  ServerConfig config_;
  Subscribers& subscribers_;
  AtHome at_home_;
  std::atomic<std::uint32_t> sent_held_{0};  // guards sent_: 0 free, 1 held, 2 held and waited for
  SentPushes sent_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
