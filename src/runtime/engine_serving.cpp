// What the node's threads do for other nodes: offers of homes, late releases, recalls of pages,
// chores.
#include <algorithm>

#include "runtime/engine.h"

namespace terrane::runtime {

// Does what other nodes wait for and any thread can do, also a thread that waits in the middle of
// its own operation. Returns the time until there is more to do. waits: the caller, the handler
// thread, may wait for a page.
std::uint64_t Engine::serve(ThreadContext& context, bool waits) {
  if (turn_count_.load() != 0) end_turns(context, false);
  if (release_count_.load() != 0 || ordered_.is_due()) serve_releases(context);
  if (recall_count_.load() == 0 && offer_count_.load() == 0) return ~0ull;
  if (!context.nesting.may_serve()) return 0;
  context.nesting.serves = true;
  serve_offers(context);
  std::uint64_t later = serve_recalls(context, waits);
  serve_offers(context);
  context.nesting.serves = false;
  return later;
}

// Under the mutex. Any thread that calls serve() ends the turn in time. That is a thread of the
// program, if the program goes on as the predictor expects; for all other cases the handler thread
// looks from time to time. waits: a thread waits here, and the request has come meanwhile, so the
// token may as well leave at once.
void Engine::extend_turn(LockId lock, bool waits) {
  std::uint64_t now = waits ? 0 : platform::now_ns();
  turns_ever_.fetch_add(1);
  if (!turns_watched_.load()) handler_.call();
  for (ExtendedTurn& turn : turns_) {
    if (turn.lock != lock) continue;
    turn.since_ns = now;
    return;
  }
  turns_.push_back({lock, now});
  turn_count_.fetch_add(1);
}

// For the handler thread: how long it may sleep at most because turns were extended here. It
// decides under the mutex that it need not look any more: an earlier extension finds that the
// handler thread looks, and a later one calls it.
std::uint64_t Engine::watch_turns() {
  if (!turns_watched_.load() && turns_ever_.load() == turns_seen_) return ~0ull;
  std::lock_guard hold(mutex_);
  std::uint64_t ever = turns_ever_.load();
  bool recent = ever != std::exchange(turns_seen_, ever) || turn_count_.load() != 0;
  turns_watched_.store(recent);
  return recent ? waiting::kWatchTurnsNs : ~0ull;
}

// Ends the turns that have lasted long enough, or all. Only for a thread that can make the release
// itself.
void Engine::end_turns(ThreadContext& context, bool all) {
  if (turn_count_.load() == 0 || !(context.nesting.may_release() || context.is_handler)) return;
  std::uint64_t now = platform::now_ns();
  std::lock_guard hold(mutex_);
  for (std::size_t i = turns_.size(); i-- > 0;) {
    if (!all && now - turns_[i].since_ns < waiting::kTurnNs) continue;
    LockId lock = turns_[i].lock;
    turns_[i] = turns_.back();
    turns_.pop_back();
    turn_count_.fetch_sub(1);
    step(protocol::LockEndTurn{lock}, context.counters);
  }
}

// Not left to the handler thread: it may wait for a block whose holder waits for another node's
// offer.
void Engine::serve_offers(ThreadContext& context) {
  while (offer_count_.load() != 0) {
    protocol::Offer offer;
    {
      std::lock_guard hold(mutex_);
      if (offers_.empty()) return;
      offer = offers_.front();
      offers_.pop_front();
      offer_count_.fetch_sub(1);
    }
    std::uint64_t made = run(context, context.serving, hlrc_.offer_asked(context.serving, offer));
    tell(context, protocol::OfferMade{offer.to, offer.waiter, made});
  }
}

// A release takes the node's consistency lock and the locks of blocks. So only a thread that holds
// none of them may make it: a thread between two operations, or one that waits for a lock, a
// barrier or a count. Its own operation is stopped meanwhile, so it uses the strand and the state
// of its deputy. Any other thread leaves the release to the handler thread.
void Engine::serve_releases(ThreadContext& context) {
  if (context.is_handler && !context.is_dropper) return;  // it makes them at the end of its turn
  if (!context.nesting.may_release()) {
    if (!releases_told_.exchange(true)) handler_.call();
    return;
  }
  context.nesting.holds_nothing = false;
  bool attended = context.attends;
  context.attends = false;  // the deputy may sleep
  if (attended && transport_.unattend()) poll_all();
  make_releases(threads_.deputy(context));
  if (attended) attend(context);
  context.nesting.holds_nothing = true;
}

void Engine::make_releases(ThreadContext& context) {
  protocol::ReleaseKept kept;
  while (next_release(kept)) {
    std::uint64_t activity = run(context, hlrc_.release_kept(context.strand, kept));
    tell(context, protocol::LockRelease{kept.lock, protocol::kNobody, activity});
  }
  while (ordered_.is_due()) {
    std::optional<protocol::Recall> recall;
    {
      std::lock_guard hold(mutex_);
      recall = ordered_.next([this](std::uint64_t block) { return kept_until_ns(block); });
    }
    if (!recall) return;
    run(context, sc_.yield_synchronised(context.strand, *recall));
  }
}

bool Engine::next_release(protocol::ReleaseKept& out) {
  if (release_count_.load() == 0) return false;
  std::lock_guard hold(mutex_);
  if (releases_.empty()) return false;
  out = releases_.front();
  releases_.pop_front();
  release_count_.fetch_sub(1);
  return true;
}

// Carries out the recalls that are due. Every thread that has caused or received a recall comes
// here: the handler thread, which may wait until a page is free, and any other thread, which may
// itself hold that page and then leaves it to the handler thread. Returns the time until the next
// recall is due.
std::uint64_t Engine::serve_recalls(ThreadContext& context, bool waits) {
  if (recall_count_.load() == 0) return ~0ull;
  protocol::Recall recall;
  while (next_recall(waits, recall)) {
    if (run(context, context.serving, sc_.yield(context.serving, recall, waits))) continue;
    std::lock_guard hold(mutex_);
    recalls_.push_back({recall, true});
    recall_count_.fetch_add(1);
  }
  std::uint64_t due = recalls_due_ns_.load();
  std::uint64_t now = platform::now_ns();
  return due > now ? due - now : 0;
}

// Removes a recall that is due from the list. If none is due: notifies the handler thread of the
// recalls that it does not know.
bool Engine::next_recall(bool waits, protocol::Recall& out) {
  std::uint64_t now = platform::now_ns();
  if (recall_count_.load() == 0 || (!waits && now < recalls_due_ns_.load())) return false;
  std::lock_guard hold(mutex_);
  std::uint64_t due = ~0ull;
  bool tells = false;
  for (std::size_t i = 0; i < recalls_.size(); ++i) {
    std::uint64_t kept = kept_until_ns(recalls_[i].recall.block.value);
    if (kept <= now && (waits || !recalls_[i].busy)) {
      out = recalls_[i].recall;
      recalls_.erase(recalls_.begin() + static_cast<std::ptrdiff_t>(i));
      recall_count_.fetch_sub(1);
      return true;
    }
    if (kept > now) due = std::min(due, kept);
    if (!recalls_[i].told) tells = recalls_[i].told = true;
  }
  recalls_due_ns_.store(due);
  if (tells && !waits) transport_.interrupt();
  return false;
}

std::uint64_t Engine::kept_until_ns(std::uint64_t block) const {
  std::uint64_t until = 0;
  threads_.for_each([&](const ThreadContext& context) {
    until = std::max(until, context.latest_pages.kept_until_ns(block));
  });
  return until;
}

// Under the mutex.
void Engine::leave_to_dropper(Chore chore) {
  chores_.push_back(std::move(chore));
  dropper_.call();
}

// Drops freed regions, and copies that are stale after an eager release of another node, and adopts
// homes. Such an operation waits only for threads of its own node, which poll while they wait, and
// for answers that homes give at once. The handler thread cannot do this: it makes releases, and a
// release may wait for chores of other nodes.
void Engine::run_chores() {
  for (;;) {
    Chore chore;
    {
      std::lock_guard hold(mutex_);
      if (chores_.empty()) return;
      chore = std::move(chores_.front());
      chores_.pop_front();
    }
    ThreadContext& context = threads_.current();
    context.is_handler = context.is_dropper = true;
    context.role = "dropper";
    if (const auto* drop = std::get_if<protocol::Drop>(&chore.what)) {
      run(context, hlrc_.drop(context.strand, drop->region, drop->blocks));
      tell(context, protocol::RegionDropped{drop->region, drop->blocks});
    } else if (const auto* adopt = std::get_if<protocol::Adopt>(&chore.what)) {
      std::uint64_t taken = run(context, hlrc_.adopt(context.strand, *adopt));
      context.counters.pages_adopted.add(taken);
      tell(context, protocol::AdoptionMade{adopt->from, adopt->waiter, adopt->run.count, taken,
                                           hlrc_.room_for_homes()});
    } else {
      const auto& expire = std::get<protocol::Expire>(chore.what);
      run(context, hlrc_.expire(context.strand, expire.origin, chore.ranges, expire.home));
      tell(context, protocol::Expired{expire.origin, expire.waiter});
    }
  }
}

}  // namespace terrane::runtime
