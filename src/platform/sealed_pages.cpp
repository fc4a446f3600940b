#include "platform/sealed_pages.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "platform/kernel_refused.h"
#include "platform/map_count.h"
#include "platform/page_size.h"
#include "platform/view_rights.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kLeastSeals = 16;
constexpr int kMaxRefusals = 32;

int all_rights() { return PROT_READ | PROT_WRITE | (views_are_executable() ? PROT_EXEC : 0); }

}  // namespace

void remove_entries(AddressRange range, AddressRange part) {
  bool unlocked = false;
  while (madvise(range.begin, range.bytes, MADV_DONTNEED) != 0) {
    if (errno == EAGAIN || errno == EINTR) continue;
    // The program has locked memory, past our mlock.
    if (errno != EINVAL || std::exchange(unlocked, true) || munlock(part.begin, part.bytes) != 0)
      kernel_refused("MADV_DONTNEED", reinterpret_cast<std::uintptr_t>(range.begin), errno);
  }
}

base::Result<std::unique_ptr<SealedPages>> SealedPages::create(const DualMapping& mapping) {
  auto states = PageStates::create(mapping.bytes() / page_bytes());
  if (!states) return states.error();
  return std::unique_ptr<SealedPages>(new SealedPages(mapping, std::move(states).value()));
}

SealedPages::SealedPages(const DualMapping& mapping, PageStates states)
    : mapping_(mapping), states_(std::move(states)) {
  std::uint64_t allowed = max_map_count();
  std::uint64_t used = std::min(current_map_count(), allowed);
  budget_ = std::max((allowed - used) / 2, kLeastSeals);
}

std::unique_lock<FutexLock> SealedPages::seal(Span span) {
  any_.store(true, std::memory_order_relaxed);
  std::unique_lock hold(lock_);
  change(span, PageState::kRead);
  return hold;
}

// Only the thread that may change what the view shows of these pages seals them.
void SealedPages::unseal(Span span) {
  if (!any_.load(std::memory_order_relaxed)) return;
  std::lock_guard hold(lock_);
  change(span, PageState::kNone);
}

int SealedPages::set_rights(Span span, int rights) {
  std::lock_guard turn(rights_lock_);
  std::uint64_t first = span.offset / page_bytes();
  std::uint64_t end = first + span.bytes / page_bytes();
  // Allocated and freed while faults can be served.
  auto next = std::make_unique<const Stretches>(with({first, end, rights}));
  std::unique_lock hold(lock_);
  remove_sealed(first, end);
  if (mprotect(address(first), span.bytes, rights) != 0) return -1;
  states_.set(first, end, PageState::kNone);
  std::swap(stretches_, next);
  hold.unlock();
  return 0;
}

bool SealedPages::permits(std::uint64_t offset, Access access) {
  std::lock_guard hold(lock_);
  int rights = rights_of(offset / page_bytes());
  return (rights & (access == Access::kWrite ? PROT_WRITE : PROT_READ)) != 0;
}

// ---- what the program asked for

const SealedPages::Stretch* SealedPages::stretch_at(std::uint64_t page) const {
  auto at = std::partition_point(stretches_->begin(), stretches_->end(),
                                 [&](const Stretch& one) { return one.end <= page; });
  return at == stretches_->end() ? nullptr : &*at;
}

int SealedPages::rights_of(std::uint64_t page) const {
  const Stretch* at = stretch_at(page);
  return at != nullptr && at->begin <= page ? at->rights : all_rights();
}

// Up to where one call can go: the rights are the same, and no pane begins or ends.
std::uint64_t SealedPages::end_of_part(std::uint64_t page, std::uint64_t limit) const {
  const Stretch* at = stretch_at(page);
  if (at != nullptr) limit = std::min(limit, at->begin <= page ? at->end : at->begin);
  while (page + 1 < limit && address(page + 1) == address(page) + page_bytes()) ++page;
  return page + 1;
}

SealedPages::Stretches SealedPages::with(const Stretch& added) const {
  Stretches all;
  all.reserve(stretches_->size() + 2);
  auto add = [&](Stretch one) {
    if (one.begin >= one.end || one.rights == all_rights()) return;
    if (!all.empty() && all.back().end == one.begin && all.back().rights == one.rights)
      all.back().end = one.end;
    else
      all.push_back(one);
  };
  auto one = stretches_->begin();
  for (; one != stretches_->end() && one->begin < added.begin; ++one)
    add({one->begin, std::min(one->end, added.begin), one->rights});
  add(added);
  for (const Stretch& other : *stretches_)
    add({std::max(other.begin, added.end), other.end, other.rights});
  return all;
}

// ---- seals, under the lock

std::byte* SealedPages::address(std::uint64_t page) const {
  return mapping_.app_at(page * page_bytes());
}

void SealedPages::change(Span span, PageState target) {
  std::uint64_t page = span.offset / page_bytes();
  std::uint64_t end = page + span.bytes / page_bytes();
  while (page < end) {
    std::uint64_t run = states_.end_of_run(page, end);
    if (states_.at(page) != target) {
      if (states_.runs() + 2 > budget_) give_up(page);
      while (page < run) {
        std::uint64_t part = end_of_part(page, run);
        apply(page, part, target);
        page = part;
      }
    }
    page = run;
  }
}

// If the process has no mapping left, other pages make room: what the program needs goes first.
void SealedPages::apply(std::uint64_t first, std::uint64_t end, PageState target) {
  int rights = rights_of(first);
  if (target == PageState::kRead) rights &= ~PROT_WRITE;
  for (int failures = 0; mprotect(address(first), (end - first) * page_bytes(), rights) != 0;) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno != ENOMEM || ++failures == kMaxRefusals)
      kernel_refused("mprotect (more mappings than vm.max_map_count?)",
                     reinterpret_cast<std::uintptr_t>(address(first)), errno);
    budget_ = std::max(std::min(budget_, states_.runs()) / 4 * 3, kLeastSeals);
    give_up(first);
  }
  states_.set(first, end, target);
}

// Takes sealed pages out of the view, round it, until an eighth of the budget is free. A thread
// that faults on one has it sealed again. Whole runs of sealed pages: that needs no mapping more.
void SealedPages::give_up(std::uint64_t spared) {
  std::uint64_t goal = budget_ - std::max(budget_ / 8, std::uint64_t{4});
  std::uint64_t limit = states_.high_water();
  for (std::uint64_t left = 2 * limit; states_.runs() > goal && left > 0;) {
    if (hand_ >= limit) hand_ = 0;
    std::uint64_t begin = hand_;
    while (begin > 0 && states_.at(begin) == PageState::kRead &&
           states_.at(begin - 1) == PageState::kRead)
      --begin;
    std::uint64_t end = states_.end_of_run(begin, limit);
    left -= std::min(left, end - hand_);
    hand_ = end;
    bool needed = begin <= spared && spared < end;
    if (states_.at(begin) != PageState::kRead || needed) continue;
    remove_sealed(begin, end);
    for (std::uint64_t page = begin; page < end;) {
      std::uint64_t part = end_of_part(page, end);
      if (mprotect(address(page), (part - page) * page_bytes(), rights_of(page)) == 0)
        states_.set(page, part, PageState::kNone);
      page = part;
    }
  }
}

void SealedPages::remove_sealed(std::uint64_t first, std::uint64_t end) const {
  for (std::uint64_t page = first; page < end;) {
    if (states_.at(page) != PageState::kRead) {
      page = states_.end_of_run(page, end);
      continue;
    }
    std::uint64_t part = end_of_part(page, states_.end_of_run(page, end));
    AddressRange range{address(page), (part - page) * page_bytes()};
    remove_entries(range, range);
    page = part;
  }
}

}  // namespace terrane::platform
