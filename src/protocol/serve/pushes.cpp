// What a node sends without a request for it: its blocks, with a barrier exit, an arrival or a
// grant; and pushes of other nodes that it passes on.
#include <algorithm>

#include "protocol/serve/readers.h"
#include "protocol/serve/server.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<FetchResult> Server::read_for(Strand& s, BlockRange run, std::span<const NodeId> readers,
                                   std::byte* out) {
  SubscribedNodes subscribed(config_.self, config_.entries, readers,
                             SendCopy(run.first, config_.block_bytes, out));
  co_return co_await at_home_.read(s, run, config_.self, false, subscribed);
}

// The lock of sent_, for the threads that push and the one that serves messages. None of them stops
// at a step while it holds the lock.
Task<> Server::hold_sent(Strand& s) {
  std::uint32_t seen = 0;
  if (sent_held_.compare_exchange_strong(seen, 1)) co_return;
  while (sent_held_.exchange(2) != 0) co_await s.wait(sent_held_, 2);
}

Task<> Server::release_sent(Strand& s) {
  if (sent_held_.exchange(0) == 2) co_await s.wake(sent_held_);
}

Task<> Server::grant(Strand& s, NodeId to, std::uint64_t block, std::vector<std::byte>& grant) {
  std::byte* page = co_await s.perform(SendBuffer{1});
  FetchResult got = co_await read_for(s, {block, 1}, {&to, 1}, page);
  bool subscribed = static_cast<wire::Kind>(grant[0]) == wire::Kind::kBarrierArrive;
  SentPushes::Sent sent{};
  if (subscribed && got.count > 0) {
    co_await hold_sent(s);
    sent = sent_.send(block, page, 0, false);
    co_await release_sent(s);
  }
  std::uint64_t bytes = sent.same ? 0 : got.count * config_.block_bytes;
  wire::put(grant, wire::GrantedBlock{.block = block,
                                      .home = config_.self.value,
                                      .bytes = static_cast<std::uint32_t>(bytes),
                                      .tracked = got.tracked,
                                      .version = sent.version});
  grant.insert(grant.end(), page, page + bytes);
}

Task<> Server::push(Strand& s, BlockRange run, std::span<const NodeId> readers,
                    std::uint32_t number, bool whole) {
  std::byte* pages = co_await s.perform(SendBuffer{run.count});
  FetchResult got = co_await read_for(s, run, readers, pages);
  PushPart part{.head = {.blocks = static_cast<std::uint8_t>(run.count),
                         .gone = got.count < run.count,
                         .number = number,
                         .block = run.first,
                         .tracked = got.tracked,
                         .home = config_.self.value},
                .further = {readers.begin(), readers.end()}};
  if (part.head.gone == 0) {
    co_await hold_sent(s);
    sent_.send(part, pages, whole);
    co_await release_sent(s);
  }
  co_await spread(s, part);
}

// Sends the part to the first readers, each with those to which it passes the push on.
Task<> Server::spread(Strand& s, const PushPart& part) {
  if (config_.clusters != nullptr && config_.clusters->count() > 1) {
    auto branches = branches_of(*config_.clusters, config_.self, part.further, config_.push_arity);
    for (const Branch& branch : branches)
      co_await s.perform(SendPush{&part, branch.to, branch.further});
    co_return;
  }
  std::size_t branches = count_branches(part.further, config_.push_arity);
  for (std::size_t i = 0; i < branches; ++i) {
    Branch branch = branch_of(part.further, branches, i);
    co_await s.perform(SendPush{&part, branch.to, branch.further});
  }
}

bool Server::is_sound(const PushPart& part) const {
  auto is_peer = [&](NodeId node) {
    return node.value < config_.nodes && node != config_.self && node.value != part.head.home;
  };
  return in_space(part.head.block, part.head.blocks) && part.head.home < config_.nodes &&
         part.head.home != config_.self.value && part.further.size() < config_.nodes &&
         std::all_of(part.further.begin(), part.further.end(), is_peer);
}

// Passes the push on first, whether or not this node waits for it: the other nodes are further
// away.
Task<bool> Server::take_push(Strand& s, NodeId from, Bytes message) {
  Bytes rest = message;
  PushPart part;
  bool good = true;
  while (good && !rest.empty()) {
    good = take_push_part(rest, config_.block_bytes, part) && is_sound(part);
    if (part.head.gone != 0 && mutant(Mutant::kPushGoneUnreported)) continue;
    if (good) co_await spread(s, part);
  }
  co_await s.perform(SendPushes{});
  while (good && !message.empty()) {
    good = take_push_part(message, config_.block_bytes, part);
    if (mutant(Mutant::kPushOfPassingNode)) part.head.home = from.value;
    if (good) good = co_await s.perform(KeepPush{&part});
  }
  co_return good;
}

Task<bool> Server::end_subscription(Strand&, NodeId from, Bytes message) {
  wire::SubscriptionEnd end;
  if (!wire::take(message, end) || !message.empty() || !in_space(end.block, end.blocks))
    co_return false;
  subscribers_.end(from, {end.block, end.blocks});
  co_return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
