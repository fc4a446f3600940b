// Messages that change pages at other nodes: the differences of releases, and atomic operations.
#include <algorithm>
#include <cstring>

#include "protocol/serve/requests.h"
#include "runtime/remote_pages.h"
#include "runtime/sharing_watch.h"
#include "runtime/statistics.h"

namespace terrane::runtime {
namespace {

using transport::Bytes;

// A release sends a home's differences in messages of about this size, so that the home applies one
// message while this node makes the next one.
constexpr std::size_t kBatchBytes = 64 << 10;

}  // namespace

std::uint64_t RemotePages::post(const protocol::PostDiff& step, ThreadContext& context) {
  std::vector<std::byte>& batch = batches_[step.node.value];
  if (batch.size() >= kBatchBytes) send_batch(step.node, context);
  std::size_t begun = batch.size();
  std::size_t head = begun == 0 ? sizeof(wire::Flush) + step.known.size_bytes() : begun;
  batch.resize(head + sizeof(wire::FlushedBlock) + platform::diff_bound(space_.unit()));
  std::byte* diff = batch.data() + head + sizeof(wire::FlushedBlock);
  RecordedPages::note_written(space_, step.block.value);
  std::size_t size = space_.encode(step.block.value, step.twin_follows, diff);
  if (size == 0) {
    batch.resize(begun);
    return 0;
  }
  if (begun == 0) {
    wire::Flush flush{.waiter = context.strand.waiter().value, .origin = space_.self().value};
    std::memcpy(batch.data(), &flush, sizeof flush);
    if (!step.known.empty())
      std::memcpy(batch.data() + sizeof flush, step.known.data(), step.known.size_bytes());
    open_.push_back(step.node);
  }
  wire::FlushedBlock block{.block = step.block.value,
                           .diff_bytes = static_cast<std::uint32_t>(size),
                           .via = step.via.value};
  std::memcpy(batch.data() + head, &block, sizeof block);
  batch.resize(head + sizeof block + size);
  context.counters.pages_flushed.add(1);
  context.counters.bytes_flushed.add(size);
  if (SiteCounters* sites = context.counters.sites) {
    sites->note_flushed(step.block.value, size, step.node);
    if (SharingWatch* watch = sites->sharing()) watch->flushes(step.block.value, {diff, size});
  }
  return size;
}

void RemotePages::send_batch(NodeId to, ThreadContext& context) {
  std::vector<std::byte>& batch = batches_[to.value];
  context.flushes.add();
  unanswered_[to.value].fetch_add(1);
  send(to, batch, {}, context.counters);
  batch.clear();
  std::erase(open_, to);
}

void RemotePages::send_posted(ThreadContext& context) {
  while (!open_.empty()) send_batch(open_.back(), context);
}

bool RemotePages::accept_flushed(NodeId from, Bytes message) {
  wire::Flush answer;
  if (!wire::take(message, answer) || !message.empty() || !threads_.has(answer.waiter))
    return false;
  ThreadContext& context = threads_.at(protocol::WaiterId{answer.waiter});
  bool passed = answer.was_passed != 0;
  if (!passed && unanswered_[from.value].load() == 0) return false;
  if (!passed) unanswered_[from.value].fetch_sub(1);
  if (!context.flushes.answered(answer)) return false;
  if (context.sleeping.load() != 0) transport_.interrupt();
  return true;
}

bool RemotePages::accept_atomic(NodeId from, Bytes message) {
  wire::AtomicReply answer;
  if (!wire::take(message, answer) || !message.empty() || answer.done > 1 ||
      (answer.done == 0 && answer.ask >= space_.nodes() && answer.ask != kNoNode.value))
    return false;
  Exchange* exchange = waiting(answer.waiter, from, {answer.block, 1}, answer.kind);
  if (exchange == nullptr) return false;
  exchange->result = protocol::result_of(answer);
  finish(answer.waiter, *exchange);
  return true;
}

}  // namespace terrane::runtime
