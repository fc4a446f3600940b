// What changes pages elsewhere: the differences of releases, and atomic operations.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "runtime/remote_pages.h"

namespace terrane::runtime {
namespace {

using protocol::StepKind;
using transport::Bytes;

// A release sends a home's differences in messages of about this size: small enough that the first
// is applied while the next is made.
constexpr std::size_t kBatchBytes = 64 << 10;

}  // namespace

std::uint64_t RemotePages::post(const protocol::Step& step, ThreadContext& context) {
  std::vector<std::byte>& batch = batches_[step.node.value];
  if (batch.size() >= kBatchBytes) send_batch(step.node, context);
  std::size_t begun = batch.size();
  std::size_t head = begun == 0 ? sizeof(wire::Flush) : begun;
  batch.resize(head + sizeof(wire::FlushedBlock) + platform::diff_bound(space_.unit()));
  std::byte* diff = batch.data() + head + sizeof(wire::FlushedBlock);
  std::size_t size = space_.encode(step.blocks.first, step.flag, diff);
  if (size == 0) {
    batch.resize(begun);
    return 0;
  }
  if (begun == 0) {
    wire::Flush flush{.waiter = context.strand.waiter().value, .origin = space_.self().value};
    std::memcpy(batch.data(), &flush, sizeof flush);
    open_.push_back(step.node);
  }
  wire::FlushedBlock block{.block = step.blocks.first,
                           .diff_bytes = static_cast<std::uint32_t>(size),
                           .via = static_cast<std::uint32_t>(step.value) - 1};
  std::memcpy(batch.data() + head, &block, sizeof block);
  batch.resize(head + sizeof block + size);
  context.counters.pages_flushed.add(1);
  context.counters.bytes_flushed.add(size);
  return size;
}

void RemotePages::send_batch(NodeId to, ThreadContext& context) {
  std::vector<std::byte>& batch = batches_[to.value];
  context.flushes.fetch_add(1);
  unanswered_[to.value].fetch_add(1);
  send(to, batch, {}, context.counters);
  batch.clear();
  std::erase(open_, to);
}

void RemotePages::send_posted(ThreadContext& context) {
  while (!open_.empty()) send_batch(open_.back(), context);
}

// Counted as storing at a home, for the threads of this node that offer homes to others.
bool RemotePages::serve_flush(NodeId from, Bytes message, Counters& counters) {
  wire::Flush flush;
  if (!wire::take(message, flush) || flush.origin >= space_.nodes() ||
      (flush.was_passed == 0 && flush.origin != from.value))
    return false;
  flush.passed = 0;
  bool good = true;
  space_.count_flush(true);
  while (good && !message.empty()) {
    wire::FlushedBlock block;
    good = wire::take(message, block) && block.block < space_.blocks() &&
           block.diff_bytes <= message.size() &&
           (block.via < space_.nodes() || block.via == kNoNode.value) &&
           block.via != space_.self().value;
    if (!good) break;
    good = apply(flush, block, message.first(block.diff_bytes), counters);
    message = message.subspan(block.diff_bytes);
  }
  space_.count_flush(false);
  if (!good) return false;
  if (space_.is_over_limit()) transport_.interrupt();  // the handler trims
  flush.kind = wire::Kind::kFlushed;
  if (flush.origin == space_.self().value) return accept_flushed(space_.self(), bytes_of(flush));
  send(NodeId{flush.origin}, bytes_of(flush), {}, counters);
  return true;
}

// The difference of one block, here or, by another message, where the block has moved.
bool RemotePages::apply(wire::Flush& flush, const wire::FlushedBlock& block, Bytes diff,
                        Counters& counters) {
  using enum protocol::FlushAnswer::What;
  for (;;) {
    auto word = static_cast<std::uint32_t>(space_.at_home(StepKind::kLoadWord, block.block));
    protocol::FlushAnswer answer =
        protocol::answer_flush(word, NodeId{flush.origin}, NodeId{block.via});
    bool here = answer.what == kApply || answer.what == kEndOffer;
    if (here && flush.origin == space_.self().value) return false;  // it would not have sent it
    if (answer.what == kApply) return space_.apply(block.block, diff);
    if (answer.what == kEndOffer) {
      space_.at_home(StepKind::kSwapWord, block.block, word | std::uint64_t{answer.word} << 32);
      continue;
    }
    struct {
      wire::Flush flush;
      wire::FlushedBlock block;
    } head{flush, block};
    head.flush.was_passed = 1;
    head.flush.passed = 0;
    head.block.via = answer.what == kPassOn ? space_.self().value : kNoNode.value;
    send(answer.home, bytes_of(head), diff, counters);
    ++flush.passed;
    return true;
  }
}

// What was passed on may be answered before the answer that tells of it.
bool RemotePages::accept_flushed(NodeId from, Bytes message) {
  wire::Flush answer;
  if (!wire::take(message, answer) || !message.empty() || !threads_.has(answer.waiter))
    return false;
  ThreadContext& context = threads_.at(protocol::WaiterId{answer.waiter});
  context.passed.fetch_add(static_cast<std::int32_t>(answer.passed));
  if (answer.was_passed != 0) {
    context.passed.fetch_sub(1);
  } else {
    if (unanswered_[from.value].load() == 0 || context.flushes.load() == 0) return false;
    unanswered_[from.value].fetch_sub(1);
    context.flushes.fetch_sub(1);
  }
  if (context.sleeping.load() != 0) transport_.interrupt();
  return true;
}

// As a difference (apply), but who asks goes himself where the block has moved.
bool RemotePages::serve_atomic(NodeId from, Bytes message, Counters& counters) {
  using enum protocol::FlushAnswer::What;
  wire::AtomicRequest request;
  if (!wire::take(message, request) || !message.empty() || request.block >= space_.blocks() ||
      (request.via >= space_.nodes() && request.via != kNoNode.value))
    return false;
  protocol::AtomicOp op{static_cast<protocol::AtomicKind>(request.operation), request.size,
                        request.offset, request.operand, request.expected};
  if (!protocol::is_valid(op, space_.unit())) return false;
  wire::AtomicReply reply{.waiter = request.waiter, .block = request.block, .ask = kNoNode.value};
  space_.count_flush(true);
  for (bool over = false; !over;) {
    auto word = static_cast<std::uint32_t>(space_.at_home(StepKind::kLoadWord, request.block));
    auto answer = protocol::answer_flush(word, from, NodeId{request.via});
    over = answer.what != kEndOffer;
    if (answer.what == kApply) {
      reply.before = space_.atomic(space_.self(), request.block, op);
      reply.done = 1;
    } else if (answer.what == kPassOn) {
      reply.ask = answer.home.value;
    } else if (answer.what == kEndOffer) {
      space_.at_home(StepKind::kSwapWord, request.block, word | std::uint64_t{answer.word} << 32);
    }
  }
  space_.count_flush(false);
  if (space_.is_over_limit()) transport_.interrupt();
  send(from, bytes_of(reply), {}, counters);
  return true;
}

bool RemotePages::accept_atomic(NodeId from, Bytes message) {
  wire::AtomicReply answer;
  if (!wire::take(message, answer) || !message.empty() || answer.done > 1 ||
      (answer.done == 0 && answer.ask >= space_.nodes() && answer.ask != kNoNode.value))
    return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, 1}, answer.kind);
  if (exchange == nullptr) return false;
  threads_.at(protocol::WaiterId{answer.waiter}).strand.before = answer.before;
  std::uint64_t elsewhere =
      answer.ask == kNoNode.value ? protocol::kAtomicNotYet : std::uint64_t{answer.ask};
  finish(answer.waiter, *exchange, answer.done != 0 ? protocol::kAtomicDone : elsewhere);
  return true;
}

}  // namespace terrane::runtime
