#include "runtime/remote_pages.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace terrane::runtime {
namespace {

using protocol::StepKind;
using transport::Bytes;

}  // namespace

RemotePages::RemotePages(PageSpace& space, transport::Transport& transport, ThreadRegistry& threads,
                         protocol::Promises& promises)
    : space_(space),
      transport_(transport),
      threads_(threads),
      promises_(promises),
      sent_news_(space.unit()),
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
  begin(wire::PageFetch{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                        .how = static_cast<std::uint8_t>(step.value),
                        .waiter = context.strand.waiter().value,
                        .block = step.blocks.first},
        wire::Kind::kPageData, step, exchange, context);
}

void RemotePages::post_fetch(const protocol::Step& step, ThreadContext& context) {
  auto* free = std::find_if(std::begin(context.posted), std::end(context.posted),
                            [](const Exchange& one) { return one.blocks.count == 0; });
  TERRANE_CHECK(free != std::end(context.posted), "what is posted is waited for");
  begin_fetch(step, *free, context);
}

Exchange& RemotePages::ask(const protocol::Step& step, ThreadContext& context) {
  std::uint32_t waiter = context.strand.waiter().value;
  std::uint64_t block = step.blocks.first;
  Exchange& exchange = context.exchange;
  if (step.kind == StepKind::kFetch) {
    for (Exchange& posted : context.posted)
      if (posted.blocks == step.blocks && posted.from == step.node) return posted;
    begin_fetch(step, exchange, context);
    return exchange;
  }
  if (step.kind == StepKind::kAskAtomic) {
    const protocol::AtomicOp& op = context.strand.atomic;
    begin(wire::AtomicRequest{.operation = static_cast<std::uint8_t>(op.kind),
                              .size = op.size,
                              .waiter = waiter,
                              .block = block,
                              .offset = op.offset,
                              .via = static_cast<std::uint32_t>(step.value) - 1,
                              .operand = op.operand,
                              .expected = op.expected},
          wire::Kind::kAtomicReply, step, exchange, context);
    return exchange;
  }
  auto claim = step.kind == StepKind::kClaimOwner ? static_cast<std::uint32_t>(step.value) : 0;
  begin(wire::OwnerRequest{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                           .waiter = waiter,
                           .block = block,
                           .claim = claim},
        wire::Kind::kOwnerReply, step, exchange, context);
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
  switch (static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kPageFetch:
      return serve_fetch(from, message, counters);
    case wire::Kind::kPageData:
      return accept_page(from, message);
    case wire::Kind::kFlush:
      return serve_flush(from, message, counters);
    case wire::Kind::kFlushed:
      return accept_flushed(from, message);
    case wire::Kind::kOwnerRequest:
      return serve_owner(from, message, counters);
    case wire::Kind::kOwnerReply:
      return accept_owner(from, message);
    case wire::Kind::kPageNews:
      return accept_news(message, counters);
    case wire::Kind::kPromiseEnd:
      return accept_promise_end(from, message);
    case wire::Kind::kAtomicRequest:
      return serve_atomic(from, message, counters);
    case wire::Kind::kAtomicReply:
      return accept_atomic(from, message);
    default:
      return false;
  }
}

// In the order that the simulator knows (StepKind::kFetch): the word, the wish, the bytes.
bool RemotePages::serve_fetch(NodeId from, Bytes message, Counters& counters) {
  wire::PageFetch request;
  if (!wire::take(message, request) || !message.empty() || !in_space(request.block, request.blocks))
    return false;
  protocol::BlockRange run{request.block, request.blocks};
  Collected got = collect(run, pages_[0].bytes, [&](std::uint32_t word) {
    return protocol::answer_fetch(word, from, (request.how & protocol::kFollows) != 0,
                                  (request.how & protocol::kMayTake) != 0);
  });
  run.count = got.count;
  forget_sent(run);
  wire::PageData answer{.blocks = static_cast<std::uint8_t>(got.count),
                        .own = static_cast<std::uint8_t>(got.own),
                        .waiter = request.waiter,
                        .block = request.block,
                        .tracked = got.tracked};
  if (got.count == 0) {
    answer.promised = got.ask.value;
    answer.alike = moved_together(request.block, request.blocks, got.ask);
  } else if (std::uint64_t again = protocol::wanted_again(request.how); again > 0 && !got.own) {
    protocol::BlockRange first{run.first, std::min(run.count, again)};
    answer.promised = static_cast<std::uint32_t>(promises_.make(from, first));
  }
  send(from, bytes_of(answer), {pages_[0].bytes, run.count * space_.unit()}, counters);
  return true;
}

void RemotePages::forget_sent(protocol::BlockRange run) {
  std::lock_guard hold(sent_mutex_);
  sent_news_.forget(run);
}

// How many of the blocks are at `home` now, the first of which is, or is just coming here.
std::uint8_t RemotePages::moved_together(std::uint64_t block, std::uint8_t blocks, NodeId home) {
  std::uint8_t count = 1;
  while (count < blocks && home != space_.self()) {
    auto word = static_cast<std::uint32_t>(space_.at_home(StepKind::kLoadWord, block + count));
    if (!protocol::moved_to(word, home)) break;
    ++count;
  }
  return count;
}

// The first blocks' bytes to `out`, as far as the answers to their words allow and are alike.
template <typename Answer>
RemotePages::Collected RemotePages::collect(protocol::BlockRange blocks, std::byte* out,
                                            Answer answer_to) {
  using enum protocol::FetchAnswer::What;
  Collected got{.ask = space_.self()};
  while (got.count < blocks.count) {
    std::uint64_t block = blocks.first + got.count;
    auto word = static_cast<std::uint32_t>(space_.at_home(StepKind::kLoadWord, block));
    protocol::FetchAnswer answer = answer_to(word);
    bool own = answer.what == kOwn;
    if (answer.what == kElsewhere) got.ask = answer.home;
    if (answer.what == kElsewhere || answer.what == kNotYet) break;
    if (got.count > 0 && own != got.own) break;
    std::uint64_t swap = word | std::uint64_t{answer.word} << 32;
    if (own) space_.count_giving(true);
    if (own && space_.at_home(StepKind::kSwapWord, block, swap) == 0) {
      space_.count_giving(false);
      continue;
    }
    got.own = own;
    bool tracked = word & protocol::kTracked;
    if (!tracked) space_.at_home(StepKind::kSetWanted, block);
    space_.read_page(block, out + got.count * space_.unit());
    if (own) space_.count_giving(false);
    auto now = static_cast<std::uint32_t>(space_.at_home(StepKind::kLoadWord, block));
    if (!own && !protocol::stayed_here(word, now)) continue;
    if (tracked) got.tracked |= 1u << got.count;
    ++got.count;
  }
  return got;
}

bool RemotePages::in_space(std::uint64_t block, std::uint32_t blocks) const {
  return block < space_.blocks() && blocks != 0 && blocks <= protocol::Hlrc::kMaxRun &&
         blocks <= space_.blocks() - block;
}

void RemotePages::send_news(const protocol::Step& step, ThreadContext& context) {
  std::vector<Line>& pages = context.news_pages;
  if (pages.empty()) pages.resize(protocol::Hlrc::kMaxRun * space_.unit() / sizeof(Line));
  Collected got = collect(step.blocks, pages[0].bytes, [&](std::uint32_t word) {
    return protocol::answer_news(word, context.strand.readers);
  });
  protocol::NewsPart part{.head = {.blocks = static_cast<std::uint8_t>(step.blocks.count),
                                   .gone = got.count < step.blocks.count,
                                   .number = static_cast<std::uint32_t>(step.value),
                                   .block = step.blocks.first,
                                   .tracked = got.tracked,
                                   .home = space_.self().value},
                          .further = context.strand.readers};
  if (part.head.gone == 0) {
    std::lock_guard hold(sent_mutex_);
    sent_news_.send(part, pages[0].bytes, !step.flag);
  }
  spread_news(part, context.news_out, context.counters);
}

void RemotePages::spread_news(const protocol::NewsPart& part, NewsOut& out, Counters& counters) {
  auto to_reader = [&](NodeId to, std::span<const NodeId> further) {
    out.add(part, to, further,
            [&](NodeId reader, Bytes message) { send(reader, message, {}, counters); });
  };
  protocol::spread(part.further, protocol::kNewsArity, to_reader);
}

void RemotePages::add_granted(NodeId to, std::span<const std::uint64_t> blocks,
                              std::vector<std::byte>& grant) {
  std::byte* page = granted_[0].bytes;
  bool promised = static_cast<wire::Kind>(grant[0]) == wire::Kind::kBarrierArrive;
  for (std::uint64_t block : blocks) {
    Collected got = collect({block, 1}, page, [&](std::uint32_t word) {
      return protocol::answer_news(word, {&to, 1});
    });
    protocol::SentNews::Sent sent{};
    if (promised && got.count > 0) {
      std::lock_guard hold(sent_mutex_);
      sent = sent_news_.send(block, page, 0, false);
    }
    std::uint64_t bytes = sent.same ? 0 : got.count * space_.unit();
    wire::put(grant, wire::GrantedBlock{.block = block,
                                        .home = space_.self().value,
                                        .bytes = static_cast<std::uint32_t>(bytes),
                                        .tracked = got.tracked,
                                        .serial = sent.serial});
    grant.insert(grant.end(), page, page + bytes);
  }
}

void RemotePages::send_collected_news(ThreadContext& context) {
  send_collected(context.news_out, context.counters);
}

void RemotePages::send_collected(NewsOut& out, Counters& counters) {
  out.send_all([&](NodeId to, Bytes message) { send(to, message, {}, counters); });
}

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

bool RemotePages::accept_promise_end(NodeId from, Bytes message) {
  wire::PromiseEnd end;
  if (!wire::take(message, end) || !message.empty() || !in_space(end.block, end.blocks))
    return false;
  promises_.end(from, {end.block, end.blocks});
  return true;
}

// Passed on first: others are further away.
bool RemotePages::accept_news(Bytes message, Counters& counters) {
  Bytes rest = message;
  protocol::NewsPart part;
  bool good = true;
  while (good && !rest.empty()) {
    good = protocol::take_news_part(rest, space_.unit(), part) && is_sound(part);
    if (good) spread_news(part, passed_, counters);
  }
  send_collected(passed_, counters);
  std::lock_guard hold(news_mutex_);
  while (good && !message.empty())
    good = protocol::take_news_part(message, space_.unit(), part) && keep_news(part);
  if (news_taker_ != nullptr && news_taker_->sleeping.load() != 0) transport_.interrupt();
  return good;
}

bool RemotePages::is_sound(const protocol::NewsPart& part) const {
  auto is_peer = [&](NodeId node) {
    return node.value < space_.nodes() && node != space_.self() && node.value != part.head.home;
  };
  return in_space(part.head.block, part.head.blocks) && part.head.home < space_.nodes() &&
         part.head.home != space_.self().value && part.further.size() < space_.nodes() &&
         std::all_of(part.further.begin(), part.further.end(), is_peer);
}

bool RemotePages::keep_news(const protocol::NewsPart& part) {
  const wire::PageNews& head = part.head;
  return news_.put({.from = NodeId{head.home},
                    .number = head.number,
                    .run = {head.block, head.blocks},
                    .tracked = head.tracked,
                    .same = head.same,
                    .gone = head.gone != 0,
                    .serials = part.serials,
                    .bytes = {part.bytes.begin(), part.bytes.end()}});
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
    finish(answer.waiter, *exchange,
           protocol::fetched_nothing(NodeId{answer.promised}, answer.alike));
    return true;
  }
  space_.write_pages({answer.block, answer.blocks}, message.data(), exchange->aside);
  threads_.at(protocol::WaiterId{answer.waiter}).counters.pages_fetched.add(answer.blocks);
  finish(
      answer.waiter, *exchange,
      protocol::fetched(answer.tracked & 0xffff, answer.blocks, answer.own != 0, answer.promised));
  return true;
}

bool RemotePages::serve_owner(NodeId from, Bytes message, Counters& counters) {
  wire::OwnerRequest request;
  if (!wire::take(message, request) || !message.empty() || request.block >= space_.blocks() ||
      request.claim > space_.nodes())
    return false;
  std::uint64_t end = std::min(protocol::directory_end(request.block), space_.blocks());
  if (request.blocks == 0 || request.blocks > end - request.block) return false;
  StepKind kind = request.claim == 0 ? StepKind::kLoadOwner : StepKind::kClaimOwner;
  auto owner = static_cast<std::uint32_t>(space_.at_home(kind, request.block, request.claim));
  wire::OwnerReply answer{.waiter = request.waiter, .block = request.block, .owner = owner};
  for (std::uint64_t b = request.block + 1; b < request.block + request.blocks; ++b)
    if (owner != request.claim || space_.at_home(kind, b, request.claim) != owner) break;
  while (request.block + answer.alike < end &&
         space_.at_home(StepKind::kLoadOwner, request.block + answer.alike) == owner)
    ++answer.alike;
  send(from, bytes_of(answer), {}, counters);
  return true;
}

bool RemotePages::accept_owner(NodeId from, Bytes message) {
  wire::OwnerReply answer;
  if (!wire::take(message, answer) || !message.empty() || answer.owner > space_.nodes() ||
      answer.alike > 64)
    return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, 1}, answer.kind);
  if (exchange == nullptr) return false;
  finish(answer.waiter, *exchange, answer.owner | std::uint64_t{answer.alike} << 32);
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
