#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "platform/fault_signal.h"
#include "platform/futex_lock.h"
#include "platform/kernel_refused.h"
#include "platform/make_source.h"
#include "platform/map_count.h"
#include "platform/page_size.h"
#include "platform/page_states.h"
#include "platform/view_rights.h"

namespace terrane::platform {
namespace {

// Below so many runs there is nothing left to give up.
constexpr std::uint64_t kLeastRuns = 16;
constexpr int kMaxFailures = 32;

int protection_of(PageState state) {
  switch (state) {
    case PageState::kNone:
      return PROT_NONE;
    case PageState::kRead:
      return PROT_READ | (views_are_executable() ? PROT_EXEC : 0);
    default:
      return PROT_READ | PROT_WRITE | (views_are_executable() ? PROT_EXEC : 0);
  }
}

// mprotect and SIGSEGV, for machines that deny userfaultfd. The kernel keeps one mapping for each
// run of equally protected pages, and a process may have some 65,000 of them: so this source keeps
// count, and near its budget takes all access away from a stretch of the view, which then is one
// run. That costs faults, never data: a thread that faults on a page that it had gets it again.
// Guarantees that a page never grants more than was asked for it. Owns the signal route and the
// table of states; the mapping is the caller's and outlives it.
class SigsegvSource final : public FaultSource {
 public:
  SigsegvSource(PageStates states, FaultRoute route, DualMapping& mapping, Span part)
      : states_(std::move(states)),
        route_(std::move(route)),
        mapping_(mapping),
        view_(reinterpret_cast<std::uintptr_t>(mapping.app_at(part.offset)) - part.offset) {
    std::uint64_t allowed = max_map_count();
    std::uint64_t used = std::min(current_map_count(), allowed);
    budget_ = std::max((allowed - used) / 4 * 3, kLeastRuns);  // the rest is the program's
  }

  std::string_view name() const override { return "sigsegv"; }
  WriteDetection detection() const override { return WriteDetection::kFault; }
  bool enters_protected() const override { return true; }

  void map(Span span, Access allowed) override {
    change(
        span, [](PageState state) { return state == PageState::kNone; },
        allowed == Access::kRead ? PageState::kRead : PageState::kWrite);
  }

  void remap(Span span) override { map(span, Access::kRead); }

  bool fill(Span span, const std::byte* source, Access allowed) override {
    if (!mapping_.populate(span)) return false;
    std::memcpy(mapping_.runtime() + span.offset, source, span.bytes);
    map(span, allowed);
    return true;
  }

  void protect(Span span) override {
    change(
        span, [](PageState state) { return state == PageState::kWrite; }, PageState::kRead);
  }

  void unprotect(Span span) override {
    change(
        span, [](PageState state) { return state == PageState::kRead; }, PageState::kWrite);
  }

  void share(Span span) override {
    map(span, Access::kRead);
    protect(span);
  }

  int set_rights(Span, int) override {
    errno = EACCES;
    return -1;
  }

  void zap(Span span) override {
    change(
        span, [](PageState state) { return state != PageState::kNone; }, PageState::kNone);
  }

  void look(Span span, std::vector<Span>& written) override { scan(span, written); }
  void scan(Span span, std::vector<Span>&) override {
    kernel_refused("a scan in sigsegv mode", address(span.offset / page_bytes()), ENOTSUP);
  }

 private:
  // Takes the pages of the span that are to be changed to `target`, a stretch at a time. What is
  // between them in the stretch is in `target` already, or (when access is taken) may lose its own.
  template <typename Changes>
  void change(Span span, Changes changes, PageState target) {
    std::uint64_t page = span.offset / page_bytes();
    std::uint64_t end = page + span.bytes / page_bytes();
    std::lock_guard hold(lock_);
    for (int failures = 0; page < end;) {
      if (states_.runs() + 2 > budget_) give_up_runs();  // before looking: it changes states
      if (!changes(states_.at(page))) {
        page = states_.end_of_run(page, end);
        continue;
      }
      std::uint64_t stretch = end_of_stretch(page, end, changes, target);
      if (apply(page, stretch, target)) {
        page = stretch;
      } else {  // the program's own mappings have grown
        if (++failures == kMaxFailures) refused(page, ENOMEM);
        budget_ = std::max(std::min(budget_, states_.runs()) / 4 * 3, kLeastRuns);
      }
    }
  }

  // As far as one call may go: over pages that are to be changed, and over those that are as wanted
  // already if more to be changed come behind them.
  template <typename Changes>
  std::uint64_t end_of_stretch(std::uint64_t page, std::uint64_t end, Changes changes,
                               PageState target) const {
    std::uint64_t stretch = page;
    for (std::uint64_t at = page; at < end; at = states_.end_of_run(at, end)) {
      PageState state = states_.at(at);
      if (changes(state)) {
        stretch = states_.end_of_run(at, end);
      } else if (state != target) {
        break;
      }
    }
    return stretch;
  }

  // False: the process has no mapping left (ENOMEM); part of the stretch may be done.
  bool apply(std::uint64_t first, std::uint64_t end, PageState state) {
    while (mprotect(reinterpret_cast<void*>(address(first)), (end - first) * page_bytes(),
                    protection_of(state)) != 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      if (errno != ENOMEM) refused(first, errno);
      return false;
    }
    states_.set(first, end, state);
    return true;
  }

  [[noreturn]] void refused(std::uint64_t page, int error_number) const {
    kernel_refused("mprotect (more mappings than vm.max_map_count?)", address(page), error_number);
  }

  // Takes access away from stretches, round the view, until an eighth of the budget is free. In
  // batches: so two pages that one instruction needs are not taken in turn. Of whole runs: that
  // needs no mapping more in between.
  void give_up_runs() {
    std::uint64_t goal = budget_ - std::max(budget_ / 8, std::uint64_t{4});
    std::uint64_t limit = states_.high_water();
    for (std::uint64_t left = limit; states_.runs() > goal && left > 0;) {
      if (hand_ >= limit) hand_ = 0;
      if (hand_ > 0 && states_.at(hand_ - 1) == states_.at(hand_)) {
        hand_ = states_.end_of_run(hand_, limit);
        continue;
      }
      std::uint64_t end = hand_;
      for (std::uint64_t excess = states_.runs() - goal + 2; excess > 0 && end < limit; --excess) {
        end = states_.end_of_run(end, limit);
      }
      apply(hand_, end, PageState::kNone);  // where it fails, so does what it was for
      left -= std::min(left, end - hand_);
      hand_ = end;
    }
  }

  std::uintptr_t address(std::uint64_t page) const { return view_ + page * page_bytes(); }

  FutexLock lock_;  // of all below; held over the system calls, as the kernel's own lock is
  PageStates states_;
  std::uint64_t budget_ = 0;
  std::uint64_t hand_ = 0;  // where access is taken next
  FaultRoute route_;
  DualMapping& mapping_;
  std::uintptr_t view_;  // where the application would see offset 0 if all lay as the part does
};

}  // namespace

base::Result<std::unique_ptr<FaultSource>> make_sigsegv_source(DualMapping& mapping, Span part,
                                                               FaultHandler handler,
                                                               void* context) {
  auto states = PageStates::create(mapping.bytes() / page_bytes());
  if (!states) return states.error();
  note_source_uses_rights();
  auto route = FaultRoute::open(mapping, part, FaultSignal::kSegv, handler, context);
  if (!route) return route.error();
  if (mprotect(mapping.app_at(part.offset), part.bytes, PROT_NONE) != 0) {
    return base::errno_error("the shared space cannot be protected (mprotect)");
  }
  return std::unique_ptr<FaultSource>(std::make_unique<SigsegvSource>(
      std::move(states).value(), std::move(route).value(), mapping, part));
}

}  // namespace terrane::platform
