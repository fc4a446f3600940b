// Requests of nodes that cannot reach this node's memory: fetches, questions for owners, atomic
// operations, and the differences of their releases.
#include "protocol/serve/server.h"

#include <algorithm>

#include "protocol/serve/readers.h"
#include "protocol/serve/requests.h"
#include "protocol/steps/found_region.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

template <typename T>
Bytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

bool Server::serves(Bytes message) {
  using enum wire::Kind;
  if (message.empty()) return false;
  auto kind = static_cast<wire::Kind>(message[0]);
  return kind == kPageFetch || kind == kFlush || kind == kOwnerRequest || kind == kAtomicRequest ||
         kind == kSubscriptionEnd || kind == kPagePush;
}

Task<bool> Server::serve(Strand& s, NodeId from, Bytes message) {
  switch (static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kPageFetch:
      return fetch(s, from, message);
    case wire::Kind::kFlush:
      return flush(s, from, message);
    case wire::Kind::kOwnerRequest:
      return own(s, from, message);
    case wire::Kind::kAtomicRequest:
      return atomic(s, from, message);
    case wire::Kind::kSubscriptionEnd:
      return end_subscription(s, from, message);
    case wire::Kind::kPagePush:
      return take_push(s, from, message);
    default:
      TERRANE_CHECK(false, "a message that serves() has named");
  }
}

bool Server::in_space(std::uint64_t block, std::uint32_t blocks) const {
  return block < config_.blocks && blocks != 0 && blocks <= kMaxRun &&
         blocks <= config_.blocks - block;
}

Task<bool> Server::fetch(Strand& s, NodeId reader, Bytes message) {
  wire::PageFetch request;
  if (!wire::take(message, request) || !message.empty() || !in_space(request.block, request.blocks))
    co_return false;
  BlockRange run{request.block, request.blocks};
  std::byte* pages = co_await s.perform(SendBuffer{run.count});
  FetchWish wish = wish_of(request.how);
  Requester requester(config_.self, reader, wish.may_take, run.first, config_.block_bytes, pages);
  FetchResult got = co_await at_home_.read(s, run, config_.self, wish.follows, requester);
  BlockRange came{run.first, got.count};
  wire::PageData answer{.blocks = static_cast<std::uint8_t>(got.count),
                        .own = static_cast<std::uint8_t>(got.own),
                        .waiter = request.waiter,
                        .block = request.block,
                        .tracked = got.tracked};
  if (got.count == 0) {
    answer.subscribed = got.ask.value;
    answer.same_owner = 1;
    if (got.ask != config_.self)
      answer.same_owner = static_cast<std::uint8_t>(
          co_await at_home_.moved_together(s, run, config_.self, got.ask));
  } else {
    co_await hold_sent(s);
    sent_.forget(came);
    co_await release_sent(s);
  }
  if (got.count > 0 && wish.again > 0 && !got.own) {
    co_await s.pause();
    BlockRange first{came.first, std::min<std::uint64_t>(came.count, wish.again)};
    answer.subscribed = static_cast<std::uint32_t>(subscribers_.make(reader, first));
  }
  co_await s.perform(SendMessage{
      .to = reader, .head = bytes_of(answer), .tail = {pages, got.count * config_.block_bytes}});
  co_return true;
}

Task<bool> Server::own(Strand& s, NodeId from, Bytes message) {
  wire::OwnerRequest request;
  if (!wire::take(message, request) || !message.empty() || request.block >= config_.blocks ||
      request.claim > config_.nodes)
    co_return false;
  std::uint64_t end = std::min(directory_end(request.block), config_.blocks);
  if (request.blocks == 0 || request.blocks > end - request.block) co_return false;
  wire::OwnerReply answer{.waiter = request.waiter, .block = request.block};
  Owner owner;
  if (request.claim == 0) {
    owner = co_await s.perform(LoadOwner{config_.self, BlockId{request.block}});
  } else {
    BlockRange run{request.block, request.blocks};
    owner = co_await s.perform(ClaimOwner{config_.self, run, request.claim});
  }
  answer.owner = owner.entry;
  BlockRange rest{request.block, end - request.block};
  answer.same_owner =
      static_cast<std::uint32_t>(co_await s.perform(CountOwned{rest, answer.owner}));
  if (mutant(Mutant::kCountsOthersBlocks))
    answer.same_owner = static_cast<std::uint32_t>(rest.count);
  co_await s.perform(SendMessage{from, bytes_of(answer)});
  co_return true;
}

bool Server::is_sound(const wire::FlushedBlock& block, std::size_t left) const {
  return block.block < config_.blocks && block.diff_bytes <= left &&
         (block.via < config_.nodes || block.via == kNoNode.value) &&
         block.via != config_.self.value;
}

// Takes the vector timestamp that a writer sends to homes that look for races.
bool Server::take_known(Bytes& message, std::vector<std::uint32_t>& known) const {
  known.resize(config_.nodes);
  return std::all_of(known.begin(), known.end(),
                     [&](std::uint32_t& one) { return wire::take(message, one); });
}

// Counts as storing at a home, for the threads of this node that offer homes to other nodes.
Task<bool> Server::flush(Strand& s, NodeId from, Bytes message) {
  wire::Flush flush;
  if (!wire::take(message, flush) || flush.origin >= config_.nodes ||
      (flush.was_passed == 0 && flush.origin != from.value))
    co_return false;
  flush.passed = 0;
  wire::Flush answer = flush;
  answer.kind = wire::Kind::kFlushed;
  std::vector<std::uint32_t> known;
  if (config_.check_races && !take_known(message, known)) co_return false;
  bool early = mutant(Mutant::kAnswersBeforeApplied) && flush.origin != config_.self.value;
  if (early) co_await s.perform(SendMessage{NodeId{flush.origin}, bytes_of(answer)});
  bool good = true;
  co_await s.perform(CountFlush{true});
  while (good && !message.empty()) {
    wire::FlushedBlock block;
    good = wire::take(message, block) && is_sound(block, message.size());
    if (!good) break;
    good = co_await apply(s, flush, known, block, message.first(block.diff_bytes));
    message = message.subspan(block.diff_bytes);
  }
  co_await s.perform(CountFlush{false});
  if (!good || early) co_return good;
  answer.passed = flush.passed;
  co_return co_await s.perform(SendMessage{NodeId{flush.origin}, bytes_of(answer)});
}

// Stores the difference of one block here or, if the block has moved, sends it on in another
// message. If the block is just moving here, the difference goes back to where it was sent on; or,
// if its writer does not know that the block was away, to where it comes from. Its bytes would
// overwrite what was stored here.
Task<bool> Server::apply(Strand& s, wire::Flush& flush, std::span<const std::uint32_t> known,
                         const wire::FlushedBlock& block, Bytes diff) {
  using enum HomeAnswer::What;
  NodeId via{block.via};
  HomeAnswer answer = co_await at_home_.may_store(s, config_.self, block.block,
                                                  NodeId{flush.origin}, via != kNoNode);
  bool back = answer.what == kNotYet && via != kNoNode;
  NodeId to = back ? via : answer.ask;
  bool stores_early = answer.what == kNotYet && !back && mutant(Mutant::kStoresBeforeReturn);
  if (to == kNoNode || stores_early) {
    if (flush.origin == config_.self.value) co_return false;  // it would not have sent it
    co_return co_await s.perform(ApplyDiff{.block = BlockId{block.block},
                                           .diff = diff,
                                           .writer = NodeId{flush.origin},
                                           .known = known});
  }
  mark(back ? Mark::kServesSendBack : Mark::kServesPassOn);
  struct {
    wire::Flush flush;
    wire::FlushedBlock block;
  } head{flush, block};
  head.flush.was_passed = 1;
  head.flush.passed = 0;
  head.block.via = back ? kNoNode.value : config_.self.value;
  co_await s.perform(SendMessage{.to = to, .head = bytes_of(head), .tail = diff});
  ++flush.passed;
  co_return true;
}

// If the block has moved, the requester asks the other node itself.
Task<bool> Server::atomic(Strand& s, NodeId from, Bytes message) {
  wire::AtomicRequest request;
  if (!wire::take(message, request) || !message.empty() || request.block >= config_.blocks ||
      (request.via >= config_.nodes && request.via != kNoNode.value))
    co_return false;
  AtomicOp op = operation_of(request);
  if (!is_valid(op, config_.block_bytes)) co_return false;
  bool follows = NodeId{request.via} != kNoNode;
  AtomicAnswer done = co_await at_home_.atomic(s, config_.self, request.block, op, from, follows);
  wire::AtomicReply reply = reply_of(done, request);
  co_await s.perform(SendMessage{from, bytes_of(reply)});
  co_return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
