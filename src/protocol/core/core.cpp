#include "protocol/core/core.h"

#include <algorithm>

#include "base/overloaded.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

BlockRange sc_blocks(const CoreConfig& config) {
  std::uint64_t first = std::min(config.sc_first, config.blocks);
  return {first, config.blocks - first};
}

// By node, whether this one sees its count of announcements.
std::vector<bool> counts_seen(const CoreConfig& config) {
  std::vector<bool> seen(config.nodes);
  for (std::uint32_t n = 0; n < config.nodes && config.counts_announcements; ++n)
    seen[n] = config.reached == nullptr || config.reached[n];
  return seen;
}

}  // namespace

Core::Core(const CoreConfig& config)
    : config_(config),
      clusters_(config.nodes, config.hosts, config.clusters),
      log_(config.nodes, config.max_log_ranges),
      locks_({.self = config.self,
              .clusters = clusters_,
              .blocks = config.blocks,
              .block_bytes = config.block_bytes},
             log_, outbox_),
      counts_(config.self, config.blocks, log_, locks_, outbox_),
      barriers_(config.self, clusters_, config.barrier_arity, config.block_bytes, log_, outbox_),
      regions_(config.self, clusters_, config.blocks, config.sc_first, outbox_),
      sc_({.self = config.self,
           .nodes = config.nodes,
           .blocks = sc_blocks(config),
           .named_readers = config.sc_named_readers,
           .reached = config.reached},
          log_.timestamp(), outbox_),
      expiry_(config.self, clusters_, config.barrier_arity, outbox_),
      offers_(config.self, outbox_),
      notices_(config.self, config.nodes, config.blocks, log_, outbox_),
      announcements_(config.self, config.nodes, config.blocks,
                     config.max_log_ranges * sizeof(BlockRange), counts_seen(config), log_,
                     outbox_),
      adoptions_(config.self, config.nodes, outbox_) {}

void Core::step(const Event& event, Effects& out) {
  outbox_.open(out);
  std::visit(base::Overloaded{
                 [&](const LockAcquire& e) { locks_.acquire(e.lock, e.waiter, e.activity); },
                 [&](const LockTry& e) { locks_.attempt(e.lock, e.waiter, e.activity); },
                 [&](const LockHandOff& e) { locks_.hand_off(e); },
                 [&](const LockEndTurn& e) { locks_.end_turn(e.lock); },
                 [&](const LockRelease& e) { locks_.release(e.lock, e.waiter, e.activity); },
                 [&](const LockHeld& e) {
                   outbox_.resume_plain(e.waiter, locks_.holds(e.lock, e.waiter));
                 },
                 [&](const CountChange& e) { counts_.change(e); },
                 [&](const CountAwait& e) { counts_.await(e.count, e.until, e.waiter); },
                 [&](const CountSleep& e) { counts_.sleep(e.waiter); },
                 [&](const CountExpire& e) { counts_.expire(e.waiter); },
                 [&](const CountGiveUp& e) { counts_.give_up(e); },
                 [&](const BarrierEnter& e) { barriers_.enter(e); },
                 [&](const BarrierGather& e) { barriers_.gather(e); },
                 [&](const BarrierTold& e) { barriers_.told(e); },
                 [&](const BarrierResult& e) { barriers_.result(e.barrier, e.waiter); },
                 [&](const BarrierArrive& e) { barriers_.arrive(e); },
                 [&](const BarrierLeave& e) { barriers_.leave(e.barrier, e.told); },
                 [&](const CloseInterval& e) {
                   std::uint32_t self = config_.self.value;
                   changes_.fetch_add(1, std::memory_order_release);
                   log_.append(self, log_.timestamp()[self] + 1, *e.notices);
                   announcements_.log_grew();
                 },
                 [&](const Learn& e) {
                   changes_.fetch_add(1, std::memory_order_release);
                   log_.learn(e.notices);
                   if (e.wanted != nullptr) locks_.want(e.lock, *e.wanted);
                   if (e.everyone) barriers_.learned(e.notices);
                   announcements_.log_grew();
                 },
                 [&](const RegionAllocate& e) { regions_.allocate(e); },
                 [&](const RegionFind& e) { regions_.find(e); },
                 [&](const RegionExtent& e) { regions_.extent(e); },
                 [&](const RegionFree& e) { regions_.free(e); },
                 [&](const RegionDropped& e) {
                   sc_.drop(e.blocks);
                   regions_.dropped(e.region, e.blocks);
                 },
                 [&](const ScAsk& e) { sc_.ask(e); },
                 [&](const ScAwait& e) { sc_.await(e); },
                 [&](const ScInstalled& e) { sc_.installed(e); },
                 [&](const ScYielded& e) { sc_.yielded(e); },
                 [&](const ScGiveBack& e) { sc_.may_give_back(e); },
                 [&](const ScServe& e) { sc_.serve_block(e); },
                 [&](const ScReady& e) { sc_.ready(e); },
                 [&](const AskNotices& e) { notices_.ask(e); },
                 [&](const Announce& e) { announcements_.announce(e); },
                 [&](const NextAnnounced& e) { announcements_.next(e); },
                 [&](const AwaitAnnounced& e) { announcements_.await(e); },
                 [&](const ExpireCopies& e) { expiry_.begin(e); },
                 [&](const Expired& e) { expiry_.expired(e.origin, e.waiter); },
                 [&](const AskOffer& e) { offers_.ask(e); },
                 [&](const OfferMade& e) { offers_.made(e); },
                 [&](const AskAdoption& e) { adoptions_.ask(e); },
                 [&](const AwaitAdoptions& e) { adoptions_.await(e.waiter); },
                 [&](const AdoptionMade& e) { adoptions_.made(e); },
                 [&](const Received& e) {
                   if (!received(e.from, e.message)) outbox_.malformed(e.from);
                 },
             },
             event);
}

bool Core::received(NodeId from, Bytes message) {
  switch (message.empty() ? wire::Kind{} : static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kLockRequest:
    case wire::Kind::kLockForward:
    case wire::Kind::kLockInsert:
    case wire::Kind::kLockInserted:
    case wire::Kind::kLockTry:
    case wire::Kind::kLockTryForward:
    case wire::Kind::kLockTried:
    case wire::Kind::kLockBusy:
    case wire::Kind::kLockGrant:
    case wire::Kind::kLockManagerRequest:
    case wire::Kind::kLockManager:
      return locks_.received(from, message);
    case wire::Kind::kCountWake:
      return counts_.received(message);
    case wire::Kind::kBarrierArrive:
      return barriers_.received(from, message, false, config_.blocks);
    case wire::Kind::kBarrierExit:
      return barriers_.received(from, message, true, config_.blocks);
    case wire::Kind::kRegionAllocate:
    case wire::Kind::kRegionFind:
    case wire::Kind::kRegionReply:
    case wire::Kind::kRegionFree:
    case wire::Kind::kRegionFreed:
    case wire::Kind::kRegionDrop:
    case wire::Kind::kRegionDropped:
      return regions_.received(from, message);
    case wire::Kind::kScRequest:
    case wire::Kind::kScRecall:
    case wire::Kind::kScYielded:
    case wire::Kind::kScReturned:
    case wire::Kind::kScGrant:
    case wire::Kind::kScReady:
      return sc_.received(from, message, sc_home(message));
    case wire::Kind::kExpire:
    case wire::Kind::kExpired:
      return expiry_.received(from, message, config_.blocks);
    case wire::Kind::kOfferRequest:
      return offers_.received_request(from, message, config_.blocks);
    case wire::Kind::kOfferReply:
      return offers_.received_reply(from, message);
    case wire::Kind::kAdoptRequest:
      return adoptions_.received_request(from, message, config_.blocks);
    case wire::Kind::kAdoptReply:
      return adoptions_.received_reply(from, message);
    case wire::Kind::kNoticeRequest:
      return notices_.received_request(from, message);
    case wire::Kind::kNoticeReply:
      return notices_.received_reply(from, message);
    case wire::Kind::kAnnounce:
    case wire::Kind::kAnnounceAnswer:
    case wire::Kind::kAnnounceEnd:
      return announcements_.received(from, message);
    default:  // messages about pages are for the host itself, not for the core
      return false;
  }
}

void Core::check_invariants() const {
  log_.check_invariants();
  locks_.check_invariants();
  barriers_.check_invariants();
  regions_.check_invariants();
  sc_.check_invariants();
  expiry_.check_invariants();
  announcements_.check_invariants();
}

// The home of the block that the message names; kNoNode if its region is not known here.
NodeId Core::sc_home(Bytes message) const {
  wire::ScMessage head;
  if (!wire::take(message, head)) return kNoNode;
  if (head.block < config_.sc_first) return sc_.home_of(head.block);
  const Region* region = regions_.known(head.block);
  if (region == nullptr) return kNoNode;
  std::uint64_t home = home_of(*region, head.block, clusters_);
  return NodeId{static_cast<std::uint32_t>(home)};
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
