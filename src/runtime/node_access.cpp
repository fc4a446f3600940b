// How threads get at pages: by faults, by touching them, and by atomic operations.
#include <unistd.h>

#include <algorithm>

#include "platform/fault_signal.h"
#include "runtime/before_operations.h"
#include "runtime/memory_texts.h"
#include "runtime/node.h"
#include "runtime/page_trace.h"
#include "runtime/program/own_stack.h"
#include "runtime/recording.h"
#include "runtime/sharing_watch.h"

namespace terrane::runtime {
namespace {

// Whether one node may write the block or many may read it: by its region's protocol, or because it
// is a synchronisation page.
bool is_sequential(const PageSpace& space, const protocol::Hlrc& hlrc, BlockId block) {
  return block.value >= space.sc_first() || hlrc.entry(block.value).synchronises();
}

// On a page that only one node may write: by the processor.
Outcome atomic_in_place(Node& node, const void* address, const protocol::AtomicOp& op,
                        std::uint64_t& before) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  Outcome present = node.touch(address, op.size, op.kind != protocol::AtomicKind::kLoad);
  if (present.ok()) before = protocol::perform(op, reinterpret_cast<std::byte*>(at - op.offset));
  return present;
}

}  // namespace

platform::FaultVerdict Node::on_fault(void* context, std::uint64_t offset,
                                      platform::Access wanted) {
  return static_cast<Node*>(context)->fault(offset, wanted);
}

platform::FaultVerdict Node::fault(std::uint64_t offset, platform::Access wanted) {
  if (guards_.contains(offset / space_->unit())) return platform::FaultVerdict::kGuard;
  if (AccessKeeper* accesses = CheckedPages::accesses(*space_))
    accesses->faulted(platform::faulting_code());
  std::uint64_t from = platform::ticks();
  ThreadContext& context = threads_.current();
  if (recording_ != nullptr) recording_->pause_for_fault(context);
  bool write = wanted == platform::Access::kWrite;
  std::uint64_t fetched = context.counters.pages_fetched.get();
  (write ? context.counters.write_faults : context.counters.read_faults).add(1);
  std::uint64_t kept = space_->kept_bytes(self());
  context.ongoing.begin(Ongoing::What::kFault, from);
  auto result = make_present(context, BlockId{offset / space_->unit()},
                             write ? protocol::Access::kWrite : protocol::Access::kRead);
  // A fault that fetched nothing: if its page got memory it was filled with zeros; otherwise it was
  // only claimed or unprotected.
  bool came = context.counters.pages_fetched.get() != fetched;
  bool zeros = !came && space_->kept_bytes(self()) > kept;
  if (zeros) context.counters.zero_fills.add(1);
  context.ongoing.end();
  std::uint64_t ns = ns_since(from);
  (came ? context.counters.fetch_ns : context.counters.overhead_ns).add(ns);
  if (SiteCounters* sites = context.counters.sites) {
    sites->note_fault(offset, zeros, ns);
    if (sites->sharing() != nullptr) sites->sharing()->waited(offset / space_->unit(), ns, came);
  }
  if (trace_ != nullptr)
    trace_->waited(context, came ? trace::TimeKind::kFault : trace::TimeKind::kProtocol,
                   reinterpret_cast<std::uintptr_t>(space_->address_of(offset / space_->unit())) +
                       offset % space_->unit(),
                   ns);
  context.waited_ns = 0;
  if (recording_ != nullptr) {
    BlockId block{offset / space_->unit()};
    if (result != protocol::FaultResult::kForeign)
      recording_->note_use(context, block.value, write, is_sequential(*space_, *hlrc_, block));
    recording_->go_on(context);
  }
  if (result != protocol::FaultResult::kForeign) return platform::FaultVerdict::kRetry;
  return space_->was_freed(offset / space_->unit()) ? platform::FaultVerdict::kFreed
                                                    : platform::FaultVerdict::kForeign;
}

// If there is no memory for the block, this node gives back all memory that it can. It tries
// several times, because its other threads may take that memory first, and because written pages
// stay while their homes have no memory for them; the homes' handler threads are making some.
protocol::FaultResult Node::make_present(ThreadContext& context, BlockId block,
                                         protocol::Access wanted, WhenFull full) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    auto result = protocol::FaultResult::kSynchronises;
    if (!is_sequential(*space_, *hlrc_, block))
      result = engine_->run(context, hlrc_->fault(context.strand, block, wanted));
    if (result == protocol::FaultResult::kSynchronises)
      result = engine_->run(context, sc_->fault(context.strand, block, wanted));
    if (result != protocol::FaultResult::kNoMemory || full == WhenFull::kGiveUp) return result;
    if (i > 0) ::usleep(1000u << std::min(i, 8));
    engine_->run(context, hlrc_->free_memory(context.strand));
  }
  out_of_memory(self(), block.value);
}

void Node::out_of_memory(NodeId node, std::uint64_t block) {
  std::uint64_t most = memory_[node.value].home_bytes;
  std::string limit =
      most == ~0ull ? std::string() : fmt::format(" and may keep {}", size_text(most));
  // A full node asks others to become the home of such a block.
  bool moves = node == self() && nodes() > 1 &&
               engine_->allocation_of(block).policy.homes == protocol::Homes::kFirstTouch;
  std::string why = moves ? ", and no other node has room for more" +
                                others_text(self(), *space_, memory_, *bootstrap_) +
                                "; use more nodes"
                          : ", and has no more; use more nodes, spread the homes";
  bootstrap_->fail(
      fmt::format("out of memory for shared page {}: {} keeps {} of pages whose home it is{}{}, "
                  "or raise --memory",
                  fmt::ptr(space_->address_of(block)), name_of(node, *bootstrap_),
                  size_text(space_->kept_bytes(node)), limit, why),
      1);
  std::abort();
}

Outcome Node::check_range(const void* address, std::uint64_t bytes, const char* what,
                          protocol::BlockRange& blocks) {
  std::optional<std::uint64_t> at = space_->offset_of(address, bytes);
  if (!at) {
    return {Status::kAddress,
            fmt::format("{}: {} is not in shared memory", what, fmt::ptr(address))};
  }
  if (bytes == 0) {
    blocks = {};
    return {};
  }
  std::uint64_t first = *at / space_->unit();
  blocks = {first, (*at + bytes - 1) / space_->unit() - first + 1};
  return {};
}

int set_rights(const Node& node, void* address, std::uint64_t bytes, int rights) {
  return ProgramRights::set(*node.space_, address, bytes, rights);
}

Outcome Node::touch(const void* address, std::uint64_t bytes, bool write, WhenFull full) {
  protocol::BlockRange blocks;
  Outcome range = check_range(address, bytes, "touch", blocks);
  if (!range.ok()) return range;
  RecordedCall recorded(recording_.get(), threads_);
  ThreadContext& context = threads_.current();
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    auto access = write ? protocol::Access::kWrite : protocol::Access::kRead;
    auto result = on_own_stack([this, &context, b, access, full] {
      Inside inside(context);
      auto made = make_present(context, BlockId{b}, access, full);
      if (recording_ != nullptr && made == protocol::FaultResult::kDone)
        recording_->note_use(context, b, access == protocol::Access::kWrite,
                             is_sequential(*space_, *hlrc_, BlockId{b}));
      return made;
    });
    if (result == protocol::FaultResult::kNoMemory)
      return {Status::kNoMemory, "touch: this node has no room for more"};
    if (result == protocol::FaultResult::kForeign) {
      return {Status::kAddress,
              fmt::format("touch: {} lies in no allocation", fmt::ptr(space_->address_of(b)))};
    }
  }
  return {};
}

Outcome Node::atomic(const void* address, protocol::AtomicOp op, std::uint64_t& before) {
  protocol::BlockRange blocks;
  Outcome range = check_range(address, op.size, "atomic operation", blocks);
  if (!range.ok()) return range;
  auto at = reinterpret_cast<std::uintptr_t>(address);
  op.offset = static_cast<std::uint32_t>(at % space_->unit());
  if (!protocol::is_valid(op, space_->unit()))
    return {Status::kInvalid,
            fmt::format("an atomic operation on {} bytes at {}: a word has 1, 2, 4 or 8 "
                        "bytes and is aligned to its size",
                        op.size, fmt::ptr(address))};
  if (is_sequential(*space_, *hlrc_, BlockId{blocks.first})) {
    begin_operation();
    return atomic_in_place(*this, address, op, before);
  }
  constexpr int kTries = 16;
  RecordedCall recorded(recording_.get(), threads_);
  begin_operation();
  ThreadContext& context = threads_.current();
  for (int i = 0; i < kTries; ++i) {
    auto done = on_own_stack([this, &context, &op, block = BlockId{blocks.first}] {
      Inside inside(context);
      return engine_->run(context, hlrc_->atomic(context.strand, block, op));
    });
    before = done.before;
    if (done.result == protocol::FaultResult::kDone) {
      recorded.note({.kind = RecordedOp::Kind::kAtomic,
                     .detail = static_cast<std::uint8_t>(op.kind),
                     .id = blocks.first},
                    false);
      return {};
    }
    if (done.result == protocol::FaultResult::kSynchronises)
      return atomic_in_place(*this, address, op, before);
    if (done.result == protocol::FaultResult::kForeign)
      return {Status::kAddress,
              fmt::format("atomic operation: {} lies in no allocation", fmt::ptr(address))};
    on_own_stack([&] {
      Inside inside(context);
      engine_->run(context, hlrc_->free_memory(context.strand));
    });
  }
  out_of_memory(self(), blocks.first);
}

Outcome Node::promote(const void* address, std::uint64_t bytes) {
  protocol::BlockRange blocks;
  Outcome range = check_range(address, bytes, "synchronisation page", blocks);
  if (!range.ok()) return range;
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    if (is_sequential(*space_, *hlrc_, BlockId{b})) continue;
    begin_operation();
    ThreadContext& context = threads_.current();
    auto result = on_own_stack([this, &context, b] {
      Inside inside(context);
      for (;;) {
        auto done = engine_->run(context, hlrc_->promote(context.strand, BlockId{b}));
        if (done != protocol::FaultResult::kNoMemory) return done;
        make_present(context, BlockId{b}, protocol::Access::kWrite);
      }
    });
    if (result == protocol::FaultResult::kForeign)
      return {Status::kAddress, fmt::format("synchronisation page: {} lies in no allocation",
                                            fmt::ptr(space_->address_of(b)))};
  }
  return {};
}

Outcome Node::evict(const void* address, std::uint64_t bytes) {
  protocol::BlockRange blocks;
  Outcome range = check_range(address, bytes, "evict", blocks);
  if (!range.ok()) return range;
  ThreadContext& context = threads_.current();
  on_own_stack([this, &context, blocks] {
    Inside inside(context);
    engine_->run(context, hlrc_->evict(context.strand, blocks, true));
    engine_->run(context, sc_->evict(context.strand, blocks));
  });
  return {};
}

}  // namespace terrane::runtime
