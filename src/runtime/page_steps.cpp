#include "runtime/page_steps.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/check.h"
#include "platform/page_size.h"
#include "runtime/sharing_watch.h"
#include "runtime/statistics.h"

// The steps of an operation on real words, pages and views.
namespace terrane::runtime {
namespace {

void count_flushed(std::uint64_t block, std::uint64_t bytes, NodeId to, Counters& counters) {
  counters.pages_flushed.add(1);
  counters.bytes_flushed.add(bytes);
  if (counters.sites != nullptr) counters.sites->note_flushed(block, bytes, to);
}

SharingWatch* watch_of(const Counters& counters) {
  return counters.sites == nullptr ? nullptr : counters.sites->sharing();
}

}  // namespace

// ---- words

void PageSteps::perform(protocol::LoadWord& step) {
  auto& word = space_.control_of(step.node).words[step.block.value];
  step.result = word.load(std::memory_order_seq_cst);
}

// Reads first: most freed blocks had no word set, and reading is cheaper than writing.
void PageSteps::perform(const protocol::StoreWord& step) {
  auto& word = space_.peers_[space_.self_.value].control.words[step.block.value];
  if (step.word != 0 || word.load(std::memory_order_relaxed) != 0)
    word.store(step.word, std::memory_order_seq_cst);
}

void PageSteps::perform(protocol::SwapWord& step) {
  auto& word = space_.control_of(step.node).words[step.block.value];
  std::uint32_t expected = step.expected;
  step.result = word.compare_exchange_strong(expected, step.desired);
}

// Ordered for all nodes: after everything before it, and before everything that follows.
void PageSteps::perform(const protocol::CountFlush& step) {
  space_.peers_[space_.self_.value].control.flushing->fetch_add(step.begins ? 1 : ~0u,
                                                                std::memory_order_seq_cst);
}

void PageSteps::perform(protocol::LoadFlushing& step) {
  step.result = space_.control_of(step.node).flushing->load(std::memory_order_seq_cst);
}

void PageSteps::perform(const protocol::CountAnnounced&) {
  space_.peers_[space_.self_.value].control.announced->fetch_add(1, std::memory_order_seq_cst);
}

void PageSteps::perform(protocol::LoadAnnounced& step) {
  step.result = space_.control_of(step.node).announced->load(std::memory_order_seq_cst);
}

void PageSteps::perform(const protocol::CountGiving& step) {
  space_.giving_.fetch_add(step.begins ? 1 : ~0u, std::memory_order_seq_cst);
}

void PageSteps::perform(protocol::LoadGiving& step) {
  step.result = space_.giving_.load(std::memory_order_seq_cst);
}

void PageSteps::perform(protocol::SetWanted& step) {
  step.result = space_.control_of(step.node).wanted.insert(step.block.value);
}

void PageSteps::perform(const protocol::TakeWanted& step) {
  protocol::BlockSet& wanted = space_.peers_[space_.self_.value].control.wanted;
  protocol::BlockRange run = wanted.next_run(0, space_.blocks_);
  while (run.count > 0) {
    for (std::uint64_t b = run.first; b < run.end(); ++b) wanted.erase(b);
    step.runs->push_back(run);
    run = wanted.next_run(run.end(), space_.blocks_);
  }
}

void PageSteps::perform(protocol::LoadOwner& step) {
  const auto& owner = space_.control_of(step.node).owners[step.block.value];
  step.result = {.entry = owner.load(std::memory_order_acquire)};
}

void PageSteps::perform(protocol::ClaimOwner& step) {
  auto* owners = space_.control_of(step.node).owners;
  for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
    std::uint32_t before = 0;
    std::uint32_t now = owners[b].compare_exchange_strong(before, step.entry) ? step.entry : before;
    if (b == step.blocks.first) step.result = {.entry = now};
    if (now != step.entry) return;
  }
}

void PageSteps::perform(protocol::CountOwned& step) {
  const auto* owners = space_.peers_[space_.self_.value].control.owners;
  while (step.result < step.blocks.count &&
         owners[step.blocks.first + step.result].load(std::memory_order_acquire) == step.entry)
    ++step.result;
}

void PageSteps::perform(const protocol::ClearOwner& step) {
  auto& owner = space_.peers_[space_.self_.value].control.owners[step.block.value];
  if (owner.load(std::memory_order_relaxed) != 0) owner.store(0, std::memory_order_release);
}

// ---- memory and view

template <typename Function>
void PageSpace::by_source(protocol::BlockRange blocks, Function function) const {
  if (blocks.first >= sc_first_) return function(*sc_source_, span(blocks));
  const Panes* panes = panes_.load(std::memory_order_acquire);
  if (panes == nullptr) return function(*source_, span(blocks));
  std::uint64_t at = blocks.first;
  auto first = std::partition_point(panes->begin(), panes->end(),
                                    [&](const Pane& pane) { return pane.blocks.end() <= at; });
  for (const Pane& pane : std::span(first, panes->end())) {
    if (at == blocks.end()) return;
    std::uint64_t before = std::min(blocks.end(), pane.blocks.first);
    if (at < before) {
      function(*source_, span({at, before - at}));
      at = before;
    }
    std::uint64_t inside = std::min(blocks.end(), pane.blocks.end());
    if (at < inside) {
      function(*pane.source, span({at, inside - at}));
      at = inside;
    }
  }
  if (at < blocks.end()) function(*source_, span({at, blocks.end() - at}));
}

// Pages that lie beside each other may be of several panes.
int ProgramRights::set(const PageSpace& space, void* address, std::uint64_t bytes, int rights) {
  auto* at = static_cast<std::byte*>(address);
  std::uint64_t page = platform::page_bytes();
  for (std::byte* end = at + bytes; at < end;) {
    auto offset = space.offset_of(at, page);
    if (!offset) {
      errno = ENOMEM;
      return -1;
    }
    std::uint64_t part =
        space.offset_of(at, static_cast<std::uint64_t>(end - at)) ? end - at : page;
    int result = 0;
    space.by_source({*offset / space.unit_, 1}, [&](auto& source, auto) {
      result = source.set_rights({*offset, part}, rights);
    });
    if (result != 0) return result;
    at += part;
  }
  return 0;
}

void PageSteps::perform(protocol::Populate& step) { step.result = space_.populate(step.blocks); }

void PageSteps::perform(protocol::PopulateAt& step) {
  step.result = space_.populate_home(step.node, step.block.value);
}

void PageSteps::perform(const protocol::Map& step) {
  auto access =
      step.access == protocol::Access::kWrite ? platform::Access::kWrite : platform::Access::kRead;
  space_.mapping_.show_in_core(space_.span(step.blocks));
  space_.by_source(step.blocks, [&](auto& source, auto part) { source.map(part, access); });
}

void PageSteps::perform(const protocol::Remap& step) {
  space_.mapping_.show_in_core(space_.span(step.blocks));
  space_.by_source(step.blocks, [](auto& source, auto part) { source.remap(part); });
}

void PageSteps::perform(const protocol::Protect& step) {
  space_.by_source(step.blocks, [](auto& source, auto part) { source.protect(part); });
}

void PageSteps::perform(const protocol::Unprotect& step) {
  space_.by_source(step.blocks, [](auto& source, auto part) { source.unprotect(part); });
}

void PageSteps::perform(const protocol::Share& step) {
  space_.mapping_.show_in_core(space_.span(step.blocks));
  space_.by_source(step.blocks, [](auto& source, auto part) { source.share(part); });
}

void PageSteps::perform(const protocol::Zap& step) {
  space_.by_source(step.blocks, [](auto& source, auto part) { source.zap(part); });
  counters_.pages_invalidated.add(step.blocks.count);
}

void PageSteps::perform(const protocol::Scan& step) {
  space_.written_.clear();
  space_.by_source(step.blocks,
                   [&](auto& source, auto part) { source.scan(part, space_.written_); });
  add_written(*step.runs);
}

void PageSteps::perform(const protocol::Look& step) {
  space_.written_.clear();
  space_.by_source(step.blocks,
                   [&](auto& source, auto part) { source.look(part, space_.written_); });
  add_written(*step.runs);
}

// The kernel reports pages, the protocol needs blocks; adjacent runs are joined again.
void PageSteps::add_written(std::vector<protocol::BlockRange>& runs) const {
  counters_.scans.add(1);
  if (space_.written_.empty()) counters_.idle_scans.add(1);
  for (const platform::Span& run : space_.written_) {
    std::uint64_t first = run.offset / space_.unit_;
    std::uint64_t end = (run.offset + run.bytes + space_.unit_ - 1) / space_.unit_;
    if (!runs.empty() && runs.back().end() >= first && runs.back().first <= first) {
      if (end > runs.back().end()) runs.back().count = end - runs.back().first;
    } else {
      runs.push_back({first, end - first});
    }
  }
}

void PageSteps::perform(const protocol::Punch& step) {
  if (space_.check_ != nullptr) space_.check_->forget(step.blocks);
  bool may_be_freed = space_.accesses_ != nullptr && step.evicts;
  if (may_be_freed) space_.accesses_->forget(space_.mapping_, step.blocks);
  space_.punch(step.blocks, step.evicts, counters_);
}

void PageSteps::perform(const protocol::DropTwin& step) { space_.drop_twins(step.blocks); }

// ---- bytes

// Pages without memory at their home are read as zeros.
void PageSteps::perform(const protocol::CopyHome& step) {
  const protocol::BlockSet& populated = space_.control_of(step.node).populated;
  const std::byte* home = space_.pages_of(step.node);
  const protocol::BlockRange all = step.blocks;
  WatchedTime time(step.slot ? watch_of(counters_) : nullptr, all.first);
  for (std::uint64_t b = all.first; b < all.end();) {
    bool kept = populated.contains(b);
    protocol::BlockRange run{b, 1};
    while (run.end() < all.end() && populated.contains(run.end()) == kept) ++run.count;
    std::byte* to = space_.mapping_.runtime() + b * space_.unit_;
    if (step.slot) to = space_.staging_.data() + (*step.slot + (b - all.first)) * space_.unit_;
    if (!kept) {
      std::memset(to, 0, run.count * space_.unit_);
    } else if (step.slot) {
      std::memcpy(to, home + b * space_.unit_, run.count * space_.unit_);
    } else {
      WatchedPages::arrive(space_, counters_, step.node, run, home + b * space_.unit_);
      space_.write_pages(run, home + b * space_.unit_);
    }
    b = run.end();
  }
  if (SharingWatch* watch = watch_of(counters_); watch != nullptr && step.slot)
    watch->sends(all, step.node);
  counters_.pages_fetched.add(step.blocks.count);
  if (counters_.sites != nullptr) counters_.sites->note_fetched(all, step.node);
}

void PageSteps::perform(const protocol::CopyTwin& step) {
  std::uint64_t offset = step.block.value * space_.unit_;
  std::unique_lock<std::mutex> turn;
  if (space_.check_ != nullptr) turn = space_.check_->hold();
  space_.add_twin(step.block.value);
  std::memcpy(space_.twins_.data() + offset, space_.mapping_.runtime() + offset, space_.unit_);
}

void PageSteps::perform(protocol::StoreDiff& step) {
  std::uint64_t offset = step.block.value * space_.unit_;
  std::byte* page = space_.mapping_.runtime() + offset;
  std::byte* twin = space_.twins_.data() + offset;
  if (step.node != space_.self_ &&
      !space_.control_of(step.node).populated.contains(step.block.value)) {
    // Above all if the region was freed: the home is giving the page back, and must not get a new
    // one for no difference.
    if (std::memcmp(page, twin, space_.unit_) == 0) return;
    space_.back_home(step.node, step.block.value);
  }
  SharingWatch* watch = watch_of(counters_);
  WatchedTime time(watch, step.block.value);
  if (watch != nullptr) watch->flushes(step.block.value, page, twin);
  step.result = space_.diff_.store(page, twin, space_.pages_of(step.node) + offset, space_.unit_,
                                   step.twin_follows);
  if (step.result > 0) count_flushed(step.block.value, step.result, step.node, counters_);
}

void PageSteps::perform(protocol::CompareHome& step) {
  if (space_.recording_ != nullptr) {
    auto turn = space_.check_->hold();
    RecordedPages::note_written(space_, step.block.value);
  }
  std::uint64_t offset = step.block.value * space_.unit_;
  step.result = space_.check_->compare(step, space_.self_, space_.mapping_.runtime() + offset,
                                       space_.twins_.data() + offset);
}

void PageSteps::perform(protocol::CloseAccesses& step) {
  space_.accesses_->close(step, space_.mapping_, CheckedPages::entries(space_));
  space_.check_->closes(step.known[space_.self_.value] + 1);
}

void PageSteps::perform(const protocol::StoreHome& step) {
  std::uint64_t offset = step.block.value * space_.unit_;
  space_.back_home(step.node, step.block.value);
  std::byte* home = space_.pages_of(step.node) + offset;
  const std::byte* page = space_.mapping_.runtime() + offset;
  if (SharingWatch* watch = watch_of(counters_)) watch->flushes(step.block.value, page, home);
  std::memcpy(home, page, space_.unit_);
  count_flushed(step.block.value, space_.unit_, step.node, counters_);
}

void PageSteps::perform(const protocol::Merge& step) {
  std::uint64_t offset = step.block.value * space_.unit_;
  std::byte* page = space_.mapping_.runtime() + offset;
  counters_.pages_refreshed.add(1);
  if (step.unused) counters_.refreshed_unused.add(1);
  if (counters_.sites != nullptr) counters_.sites->note_refreshed(step.block.value);
  std::byte* staged = space_.staging_.data() + step.slot * space_.unit_;
  SharingWatch* watch = watch_of(counters_);
  WatchedTime time(watch, step.block.value);
  if (watch != nullptr)
    watch->merges(step.block.value, step.merges ? space_.twins_.data() + offset : page, staged);
  if (step.merges) {
    space_.diff_.store(staged, space_.twins_.data() + offset, page, space_.unit_, true);
  } else {
    std::memcpy(page, staged, space_.unit_);
  }
}

void PageSteps::perform(protocol::PerformAtomic& step) {
  if (space_.check_ == nullptr) {
    step.result = space_.atomic(step.node, step.block.value, step.op);
    return;
  }
  auto turn = space_.check_->hold();
  step.result = space_.atomic(step.node, step.block.value, step.op);
  space_.check_->follow(step.block.value, step.op, step.result,
                        CheckedPages::twin(space_, step.block.value));
}

// Stores the result of this thread's atomic operation in our copy.
void PageSteps::perform(const protocol::Patch& step) {
  std::uint64_t offset = step.block.value * space_.unit_;
  protocol::AtomicOp store = step.op;
  store.operand = protocol::after(store, step.before);
  store.kind = protocol::AtomicKind::kStore;
  protocol::perform(store, space_.mapping_.runtime() + offset);
  if (step.twin_follows) protocol::perform(store, space_.twins_.data() + offset);
}

void PageSteps::perform(const protocol::ReadBlock& step) {
  space_.read_page(step.block.value, step.to);
}

void PageSteps::perform(protocol::ApplyDiff& step) { step.result = space_.apply(step); }

}  // namespace terrane::runtime
