// How the node's threads take in messages: while they wait, between operations, and in the handler
// thread's turn.
#include <algorithm>

#include "platform/wait.h"
#include "runtime/displaced_handlers.h"
#include "runtime/engine.h"
#include "waiting/backoff.h"

namespace terrane::runtime {

using waiting::kPollEveryNs;
using waiting::kSleepNs;

void Engine::attend(ThreadContext& context) {
  if (context.attends) return;
  context.attends = true;
  context.polled_ns = platform::now_ns();
  transport_.attend();
}

void Engine::unattend(ThreadContext& context) {
  if (!context.attends) return;
  context.attends = false;
  if (transport_.unattend()) poll_all();
  serve(context, false);
}

bool Engine::poll_once(ThreadContext& context) {
  bool came = transport_.pending() && transport_.poll(*this) > 0;
  serve(context, false);
  return came;
}

void Engine::poll_now_and_then(ThreadContext& context) {
  std::uint64_t now = platform::now_ns();
  if (now - context.polled_ns <= kPollEveryNs) return;
  context.polled_ns = now;
  poll_once(context);
}

// Recalls that wait for these pages are carried out now.
void Engine::let_go(ThreadContext& context) {
  if (!context.latest_pages.holds()) return;
  context.latest_pages.let_go(platform::now_ns());
  if (ordered_.due_ns() != OrderedRecalls::kNever) ordered_.look();
  if (recall_count_.load() == 0) return;
  recalls_due_ns_.store(0);
  serve(context, false);
}

// On one host a look costs a few loads; otherwise a system call, so it is made rarely.
void Engine::look(ThreadContext& context) {
  let_go(context);
  context.nesting.holds_nothing = true;
  if (space_.reaches_all()) {
    poll_once(context);
  } else {
    poll_now_and_then(context);
  }
  context.nesting.holds_nothing = false;
}

void Engine::ring(ThreadContext& context) {
  for (const Unrung& sent : context.unrung) transport_.ring(sent.to, sent.whom);
  context.unrung.clear();
}

void Engine::poll_all() {
  while (transport_.pending() && transport_.poll(*this) > 0) {
  }
}

waiting::HandlerTurn Engine::turn() {
  ThreadContext& context = threads_.current();
  context.is_handler = true;
  context.role = "handler";
  std::uint64_t from = platform::now_ns();
  context.took = context.took_urgent = false;
  poll_all();
  waiting::HandlerTurn turn{context.took, context.took_urgent, serve(context, true)};
  turn.next_ns = std::min(turn.next_ns, watch_turns());
  make_releases(context);
  std::uint64_t due = ordered_.due_ns(), now = platform::now_ns();
  if (due != OrderedRecalls::kNever)
    turn.next_ns = std::min(turn.next_ns, due > now ? due - now : 0);
  if (hlrc_.is_over_limit()) run(context, hlrc_.trim(context.strand));
  if (from >= tidy_due_ns_) {
    run(context, hlrc_.tidy(context.strand));
    mend_displaced_handlers();
    tidy_due_ns_ = platform::now_ns() + kSleepNs;
  }
  look_after_deaths();
  look_after_locks();
  context.counters.handler_ns.add(platform::now_ns() - from);
  return turn;
}

void Engine::await_fence(ThreadContext& context, std::uint64_t until_ns) {
  std::uint64_t from = platform::now_ns(), now = from;
  waiting::Backoff backoff;
  attend(context);
  while (core_.announcements().is_quiet() && now < until_ns) {
    if (!poll_once(context) && !backoff.pause(handler_.need())) {
      end_turns(context, true);
      serve(context, false);
      transport_.unattend();
      if (core_.announcements().is_quiet()) transport_.sleep(until_ns - now);
      transport_.attend();
    }
    now = platform::now_ns();
  }
  context.polled_ns = now;
  context.waited_ns += now - from;
  unattend(context);
}

void Engine::look_after_locks() {
  std::uint64_t now = platform::now_ns();
  if (now < locks_due_ns_) return;
  locks_due_ns_ = now + kSleepNs;
  std::lock_guard hold(mutex_);
  reports_.look(core_, threads_);
}

void Engine::look_after_deaths() {
  while (auto news = bootstrap_.take_news()) {
    on_news_(*news);
    if (news->kind == bootstrap::News::Kind::kAsked) continue;
    std::lock_guard hold(mutex_);
    if (lost_ == news->node) lost_at_ns_ = 0;
  }
  std::lock_guard hold(mutex_);
  if (lost_at_ns_ != 0 && platform::now_ns() - lost_at_ns_ >= waiting::kLossGraceNs)
    bootstrap_.fail(loss_, 1);
}

}  // namespace terrane::runtime
