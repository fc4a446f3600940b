#include "runtime/remote_pages.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "platform/wait.h"
#include "protocol/serve/requests.h"
#include "runtime/waiting/backoff.h"

namespace terrane::runtime {
namespace {

using protocol::StepKind;
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

template <typename Request>
void RemotePages::begin(const Request& request, wire::Kind answer, const protocol::Step& step,
                        Exchange& exchange, ThreadContext& context) {
  exchange.answer = answer;
  exchange.from = step.node;
  exchange.blocks = step.blocks;
  exchange.aside = answer == wire::Kind::kPageData && step.flag;
  // Last: an answer of a peer that has not been asked finds nothing half written.
  exchange.done.store(0, std::memory_order_release);
  send(step.node, bytes_of(request), {}, context.counters);
}

void RemotePages::begin_fetch(const protocol::Step& step, Exchange& exchange,
                              ThreadContext& context) {
  begin(protocol::fetch_request(step, context.strand.waiter()), wire::Kind::kPageData, step,
        exchange, context);
}

void RemotePages::post_fetch(const protocol::Step& step, ThreadContext& context) {
  auto* free = std::find_if(std::begin(context.posted), std::end(context.posted),
                            [](const Exchange& one) { return one.blocks.count == 0; });
  TERRANE_CHECK(free != std::end(context.posted), "what is posted is waited for");
  begin_fetch(step, *free, context);
}

Exchange& RemotePages::ask(const protocol::Step& step, ThreadContext& context) {
  protocol::WaiterId waiter = context.strand.waiter();
  Exchange& exchange = context.exchange;
  if (step.kind == StepKind::kFetch) {
    for (Exchange& posted : context.posted)
      if (posted.blocks == step.blocks && posted.from == step.node) return posted;
    begin_fetch(step, exchange, context);
    return exchange;
  }
  if (step.kind == StepKind::kAskAtomic) {
    begin(protocol::atomic_request(step, context.strand.atomic, waiter), wire::Kind::kAtomicReply,
          step, exchange, context);
  } else {
    begin(protocol::owner_request(step, waiter), wire::Kind::kOwnerReply, step, exchange, context);
  }
  return exchange;
}

void RemotePages::send(NodeId to, Bytes head, Bytes tail, Counters& counters) {
  counters.messages_sent.add(1);
  counters.message_bytes_sent.add(head.size() + tail.size());
  transport_.send(to, head, tail);
}

// ---- messages

bool RemotePages::is_ours(Bytes message) {
  if (message.empty()) return false;
  auto kind = static_cast<wire::Kind>(message[0]);
  return (kind >= wire::Kind::kPageFetch && kind <= wire::Kind::kPageNews) ||
         kind == wire::Kind::kAtomicRequest || kind == wire::Kind::kAtomicReply;
}

bool RemotePages::received(NodeId from, Bytes message, Counters& counters) {
  if (protocol::Server::serves(message)) {
    bool good = run(serving_, server_.serve(serving_, from, message), {pages_, passed_, counters});
    if (space_.is_over_limit()) transport_.interrupt();  // the handler trims
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
  NewsOut none;
  for (std::uint64_t block : blocks)
    run(granting_, server_.grant(granting_, to, block, grant), {granted_, none, counters});
}

// ---- steps

template <typename T>
T RemotePages::run(protocol::Strand& strand, protocol::Task<T> task, const Out& out) {
  strand.start(task);
  while (!task.done()) {
    const protocol::Step& step = strand.step();
    if (step.kind == StepKind::kTyped) {
      perform(strand.typed(), out);
    } else if (step.kind == StepKind::kWait) {
      waiting::wait_while_equal(*step.word, static_cast<std::uint32_t>(step.value),
                                waiting::kCrowdedNs);
    } else if (step.kind == StepKind::kWake) {
      platform::futex_wake_all(*step.word);
    } else {
      TERRANE_CHECK(step.kind == StepKind::kPause, "who serves waits for moments alone");
    }
    strand.move_on();
  }
  return task.value();
}

void RemotePages::perform(protocol::TypedStep& step, const Out& out) {
  std::visit(
      [&](auto& one) {
        if constexpr (requires { perform_here(one, out); }) {
          perform_here(one, out);
        } else {
          space_.perform(one);
        }
      },
      step);
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
  const protocol::NewsPart& part = *step.part;
  std::lock_guard hold(news_mutex_);
  step.result = news_.put(part);
  if (news_taker_ != nullptr && news_taker_->sleeping.load() != 0) transport_.interrupt();
}

// ---- pushes, and what came with a grant

bool RemotePages::take_news(const protocol::Step& step, ThreadContext& context,
                            std::uint64_t& result) {
  std::lock_guard hold(news_mutex_);
  const auto* news = news_.find(step.node, step.blocks, static_cast<std::uint32_t>(step.value));
  news_taker_ = news == nullptr ? &context : nullptr;
  if (news == nullptr) return false;
  result = protocol::kNewsGone;
  if (news->gone) return true;
  std::uint32_t same = news->same_of(step.blocks);
  context.strand.serials.resize(step.blocks.count);
  for (std::uint64_t i = 0; i < step.blocks.count; ++i) {
    std::uint64_t block = step.blocks.first + i;
    context.strand.serials[i] = news->serial_of(block);
    if (same >> i & 1) continue;
    space_.set_aside(i, news->bytes_of(block, space_.unit()));
    context.counters.pages_fetched.add(1);
  }
  result = protocol::taken(news->tracked_of(step.blocks), same);
  return true;
}

void RemotePages::take_granted(const protocol::Step& step, ThreadContext& context) {
  auto from = static_cast<std::uint32_t>(step.value);
  space_.set_aside(step.value >> 32, context.strand.granted.data() + from);
  context.counters.pages_fetched.add(1);
}

void RemotePages::forget_news(std::uint32_t departure) {
  std::lock_guard hold(news_mutex_);
  news_.forget(departure);
}

void RemotePages::end_promise(const protocol::Step& step, ThreadContext& context) {
  wire::PromiseEnd end{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                       .block = step.blocks.first};
  send(step.node, bytes_of(end), {}, context.counters);
}

bool RemotePages::accept_page(NodeId from, Bytes message) {
  wire::PageData answer;
  if (!wire::take(message, answer) || message.size() != answer.blocks * space_.unit()) return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, answer.blocks}, answer.kind);
  if (exchange == nullptr) return false;
  if (answer.blocks == 0) {
    if (answer.promised >= space_.nodes() || answer.alike == 0 ||
        answer.alike > exchange->blocks.count)
      return false;
  } else {
    space_.write_pages({answer.block, answer.blocks}, message.data(), exchange->aside);
    threads_.at(protocol::WaiterId{answer.waiter}).counters.pages_fetched.add(answer.blocks);
  }
  finish(answer.waiter, *exchange, protocol::result_of(answer));
  return true;
}

bool RemotePages::accept_owner(NodeId from, Bytes message) {
  wire::OwnerReply answer;
  if (!wire::take(message, answer) || !message.empty() || answer.owner > space_.nodes() ||
      answer.alike > 64)
    return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, 1}, answer.kind);
  if (exchange == nullptr) return false;
  finish(answer.waiter, *exchange, protocol::result_of(answer));
  return true;
}

// The exchange that this ends; nullptr when nobody asked for it.
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

void RemotePages::finish(std::uint32_t waiter, Exchange& exchange, std::uint64_t result) {
  exchange.result = result;
  exchange.done.store(1);
  if (threads_.at(protocol::WaiterId{waiter}).sleeping.load() != 0) transport_.interrupt();
}

}  // namespace terrane::runtime
