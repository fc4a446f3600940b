#include "waiting/handler_thread.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "waiting/handler_sleep.h"

namespace terrane::waiting {

// A new thread waits for its first turn of the processor: milliseconds, if another thread computes
// there. A thread that has slept gets the processor when it is woken.
void HandlerThread::start(Duties duties) {
  duties_ = std::move(duties);
  thread_ = platform::start_without_signals([this] { run(); });
  started_.wait(false);
}

void HandlerThread::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  duties_.wake();
  thread_.join();
}

void HandlerThread::call() {
  need_.store(HandlerNeed::kNow);
  duties_.wake();
}

void HandlerThread::run() {
  pthread_setname_np(pthread_self(), "terrane-handler");
  ::prctl(PR_SET_TIMERSLACK, 1);  // ns: some of its sleeps are short
  started_.store(true);
  started_.notify_one();
  HandlerSleep habit;
  std::uint64_t sleep_ns = kSleepNs;
  while (!stopping_.load()) {
    std::uint64_t patience_ns = habit.patience_ns(platform::now_ns());
    if (patience_ns != 0) sleep_ns = std::min(sleep_ns, kLooks * patience_ns);
    need_.store(HandlerNeed::kNothing);
    if (sleep_ns > 0) duties_.sleep(sleep_ns, patience_ns);
    HandlerNeed nothing = HandlerNeed::kNothing;
    need_.compare_exchange_strong(nothing, HandlerNeed::kSoon);
    std::uint64_t from = platform::now_ns();
    HandlerTurn turn = duties_.turn();
    habit.took(turn.took_any, turn.took_urgent, from);
    sleep_ns = std::min(turn.next_ns, kSleepNs);
  }
}

}  // namespace terrane::waiting
