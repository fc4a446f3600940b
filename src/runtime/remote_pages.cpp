#include "runtime/remote_pages.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "platform/wait.h"
#include "protocol/serve/requests.h"
#include "runtime/sharing_watch.h"
#include "runtime/statistics.h"
#include "waiting/backoff.h"

namespace terrane::runtime {
namespace {

using transport::Bytes;

}  // namespace

RemotePages::RemotePages(PageSpace& space, transport::Transport& transport, ThreadRegistry& threads,
                         protocol::Server& server)
    : space_(space),
      transport_(transport),
      threads_(threads),
      server_(server),
      batches_(space.nodes()),
      unanswered_(space.nodes()),
      pages_(protocol::Hlrc::kMaxRun * space.unit() / sizeof(Line)),
      granted_(space.unit() / sizeof(Line)) {
  open_.reserve(space.nodes());
}

// ---- asking

template <typename Kind>
Exchange& RemotePages::begin(const Kind& step, protocol::BlockRange blocks, wire::Kind answer,
                             Exchange& exchange, ThreadContext& context) {
  exchange.answer = answer;
  exchange.from = step.node;
  exchange.blocks = blocks;
  exchange.stages = false;
  if constexpr (requires { step.stages; }) exchange.stages = step.stages;
  // Stored last: if a peer that was not asked answers, it finds no half-written exchange.
  exchange.done.store(0, std::memory_order_release);
  auto request = protocol::request_of(step, context.strand.waiter());
  send(step.node, bytes_of(request), {}, context.counters);
  return exchange;
}

void RemotePages::post_fetch(const protocol::PostFetch& step, ThreadContext& context) {
  auto* free = std::find_if(std::begin(context.posted), std::end(context.posted),
                            [](const Exchange& one) { return one.blocks.count == 0; });
  TERRANE_CHECK(free != std::end(context.posted), "what is posted is waited for");
  begin(step, step.blocks, wire::Kind::kPageData, *free, context);
}

Exchange& RemotePages::ask(const protocol::Fetch& step, ThreadContext& context) {
  for (Exchange& posted : context.posted)
    if (posted.blocks == step.blocks && posted.from == step.node) return posted;
  return begin(step, step.blocks, wire::Kind::kPageData, context.exchange, context);
}

Exchange& RemotePages::ask(const protocol::AskAtomic& step, ThreadContext& context) {
  return begin(step, {step.block.value, 1}, wire::Kind::kAtomicReply, context.exchange, context);
}

Exchange& RemotePages::ask(const protocol::LoadOwner& step, ThreadContext& context) {
  return begin(step, {step.block.value, 1}, wire::Kind::kOwnerReply, context.exchange, context);
}

Exchange& RemotePages::ask(const protocol::ClaimOwner& step, ThreadContext& context) {
  return begin(step, step.blocks, wire::Kind::kOwnerReply, context.exchange, context);
}

void RemotePages::send(NodeId to, Bytes head, Bytes tail, Counters& counters) {
  counters.sent(head.size() + tail.size(), to.value < far_.size() && far_[to.value]);
  transport_.send(to, head, tail);
}

// ---- messages

bool RemotePages::is_ours(Bytes message) {
  if (message.empty()) return false;
  auto kind = static_cast<wire::Kind>(message[0]);
  return (kind >= wire::Kind::kPageFetch && kind <= wire::Kind::kPagePush) ||
         kind == wire::Kind::kAtomicRequest || kind == wire::Kind::kAtomicReply;
}

bool RemotePages::received(NodeId from, Bytes message, Counters& counters) {
  if (protocol::Server::serves(message)) {
    bool good = run(serving_, server_.serve(serving_, from, message), {pages_, passed_, counters});
    if (space_.is_over_limit()) transport_.interrupt();  // the handler thread evicts
    return good;
  }
  switch (static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kPageData:
      return accept_page(from, message);
    case wire::Kind::kFlushed:
      return accept_flushed(from, message);
    case wire::Kind::kOwnerReply:
      return accept_owner(from, message);
    case wire::Kind::kAtomicReply:
      return accept_atomic(from, message);
    default:
      return false;
  }
}

void RemotePages::add_granted(NodeId to, std::span<const std::uint64_t> blocks,
                              std::vector<std::byte>& grant, Counters& counters) {
  PushesOut none;
  for (std::uint64_t block : blocks)
    run(granting_, server_.grant(granting_, to, block, grant), {granted_, none, counters});
}

// ---- steps

template <typename T>
T RemotePages::run(protocol::Strand& strand, protocol::Task<T> task, const Out& out) {
  strand.start(task);
  while (!task.done()) {
    std::visit([&](auto& step) { perform(step, out); }, strand.step());
    strand.move_on();
  }
  return task.value();
}

void RemotePages::perform_here(const protocol::Pause&, const Out&) {}

// A short wait: a thread never stops between two steps with what others wait for.
void RemotePages::perform_here(const protocol::Wait& step, const Out&) {
  waiting::wait_while_equal(*step.word, step.value, waiting::kCrowdedNs);
}

void RemotePages::perform_here(const protocol::Wake& step, const Out&) {
  platform::futex_wake_all(*step.word);
}

void RemotePages::perform_here(protocol::SendBuffer& step, const Out& out) {
  std::size_t lines = step.blocks * space_.unit() / sizeof(Line);
  if (out.pages.size() < lines) out.pages.resize(lines);
  step.result = out.pages[0].bytes;
}

void RemotePages::perform_here(protocol::SendMessage& step, const Out& out) {
  if (step.to == space_.self()) {
    step.result = accept_flushed(space_.self(), step.head);
  } else {
    send(step.to, step.head, step.tail, out.counters);
  }
}

void RemotePages::perform_here(const protocol::SendPush& step, const Out& out) {
  out.pushes.add(*step.part, step.to, step.further,
                 [&](NodeId to, Bytes message) { send(to, message, {}, out.counters); });
}

void RemotePages::perform_here(const protocol::SendPushes&, const Out& out) {
  out.pushes.send_all([&](NodeId to, Bytes message) { send(to, message, {}, out.counters); });
}

void RemotePages::perform_here(protocol::KeepPush& step, const Out&) {
  const protocol::PushPart& part = *step.part;
  std::lock_guard hold(pushes_mutex_);
  step.result = pushes_.put(part);
  if (push_taker_ != nullptr && push_taker_->sleeping.load() != 0) transport_.interrupt();
}

// ---- pushes, and what came with a grant

bool RemotePages::take_push(protocol::TakePush& step, ThreadContext& context) {
  std::lock_guard hold(pushes_mutex_);
  auto stage = [&](std::uint64_t slot, const std::byte* bytes) {
    space_.stage(slot, bytes);
    context.counters.pages_fetched.add(1);
    SiteCounters* sites = context.counters.sites;
    if (sites == nullptr) return;
    protocol::BlockRange block{step.blocks.first + slot, 1};
    sites->note_fetched(block, step.node);
    if (sites->sharing() != nullptr) sites->sharing()->sends(block, step.node);
  };
  auto taken =
      pushes_.take(step.node, step.blocks, step.barrier_exit, space_.unit(), *step.versions, stage);
  push_taker_ = taken ? nullptr : &context;
  if (taken) step.result = *taken;
  return taken.has_value();
}

void RemotePages::take_granted(const protocol::TakeGranted& step, ThreadContext& context) {
  space_.stage(step.slot, step.bytes);
  context.counters.pages_fetched.add(1);
  SiteCounters* sites = context.counters.sites;
  if (sites != nullptr && sites->sharing() != nullptr)
    sites->sharing()->sends({step.block.value, 1}, kNoNode);
}

void RemotePages::forget_pushes(std::uint32_t barrier_exit) {
  std::lock_guard hold(pushes_mutex_);
  pushes_.forget(barrier_exit);
}

void RemotePages::end_subscription(const protocol::EndSubscription& step, ThreadContext& context) {
  wire::SubscriptionEnd end{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                            .block = step.blocks.first};
  send(step.node, bytes_of(end), {}, context.counters);
}

bool RemotePages::accept_page(NodeId from, Bytes message) {
  wire::PageData answer;
  if (!wire::take(message, answer) || message.size() != answer.blocks * space_.unit()) return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, answer.blocks}, answer.kind);
  if (exchange == nullptr) return false;
  if (answer.blocks == 0) {
    if (answer.subscribed >= space_.nodes() || answer.same_owner == 0 ||
        answer.same_owner > exchange->blocks.count)
      return false;
  } else {
    Counters& counters = threads_.at(protocol::WaiterId{answer.waiter}).counters;
    if (!exchange->stages) {
      WatchedPages::arrive(space_, counters, from, {answer.block, answer.blocks}, message.data());
    } else if (counters.sites != nullptr && counters.sites->sharing() != nullptr) {
      counters.sites->sharing()->sends({answer.block, answer.blocks}, from);
    }
    space_.write_pages({answer.block, answer.blocks}, message.data(), exchange->stages);
    counters.pages_fetched.add(answer.blocks);
    if (counters.sites != nullptr)
      counters.sites->note_fetched({answer.block, answer.blocks}, from);
  }
  exchange->result = protocol::result_of(answer);
  finish(answer.waiter, *exchange);
  return true;
}

bool RemotePages::accept_owner(NodeId from, Bytes message) {
  wire::OwnerReply answer;
  if (!wire::take(message, answer) || !message.empty() || answer.owner > space_.nodes() ||
      answer.same_owner > 64)
    return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, 1}, answer.kind);
  if (exchange == nullptr) return false;
  exchange->result = protocol::result_of(answer);
  finish(answer.waiter, *exchange);
  return true;
}

// The exchange that this message ends; nullptr: no thread asked for it.
Exchange* RemotePages::waiting(std::uint32_t waiter, NodeId from, protocol::BlockRange blocks,
                               wire::Kind answer) {
  if (!threads_.has(waiter)) return nullptr;
  ThreadContext& context = threads_.at(protocol::WaiterId{waiter});
  auto expects = [&](const Exchange& exchange) {
    return exchange.done.load(std::memory_order_acquire) == 0 && exchange.answer == answer &&
           exchange.from == from && exchange.blocks.first == blocks.first &&
           exchange.blocks.count >= blocks.count;
  };
  if (expects(context.exchange)) return &context.exchange;
  auto* posted = std::find_if(std::begin(context.posted), std::end(context.posted), expects);
  return posted == std::end(context.posted) ? nullptr : posted;
}

void RemotePages::finish(std::uint32_t waiter, Exchange& exchange) {
  exchange.done.store(1);
  if (threads_.at(protocol::WaiterId{waiter}).sleeping.load() != 0) transport_.interrupt();
}

}  // namespace terrane::runtime
