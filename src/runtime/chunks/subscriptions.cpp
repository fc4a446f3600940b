#include "runtime/chunks/subscriptions.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/log.h"
#include "platform/quiet_thread.h"

namespace terrane::runtime::chunks {
namespace {

void raise(int fd) {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(fd, &one, sizeof one);  // full is readable, too
}

void clear(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] auto read = ::read(fd, &count, sizeof count);
}

}  // namespace

thread_local Subscriptions::Running Subscriptions::running_here_;

Subscriptions::~Subscriptions() {
  std::vector<std::thread> threads;
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void Subscriptions::add(ChunkId chunk, Work work) {
  std::lock_guard hold(mutex_);
  Subscription& subscription = all_[chunk];
  subscription.work = std::move(work);
  if (!subscription.work) return;
  if (threads_.empty()) start_thread();
  queue(chunk, subscription);
}

void Subscriptions::remove(ChunkId chunk) {
  std::unique_lock hold(mutex_);
  all_.erase(chunk);
  if (running_here_.owner == this && running_here_.chunk == chunk) return;
  auto is_over = [&] { return !is_running(chunk); };
  if (is_over()) return;
  hold.unlock();
  give_turn();
  hold.lock();
  if (patience_ms_ != 0 &&
      !changed_.wait_for(hold, std::chrono::milliseconds(patience_ms_), is_over)) {
    hold.unlock();
    base::log(
        "the end of the subscription of {} has been waited for {:g} s: its handler has not "
        "returned",
        title_(chunk), static_cast<double>(patience_ms_) / 1000);
    hold.lock();
  }
  changed_.wait(hold, is_over);
}

void Subscriptions::notice(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  auto at = all_.find(chunk);
  if (at == all_.end()) return;
  if (at->second.event) raise(at->second.event.get());
  if (at->second.work) queue(chunk, at->second);
}

void Subscriptions::queue(ChunkId chunk, Subscription& subscription) {
  if (subscription.queued) return;
  subscription.queued = true;
  queue_.push_back(chunk);
  if (may_run() && idle_ == 0) start_thread();
  changed_.notify_all();
}

std::vector<ChunkId> Subscriptions::chunks() const {
  std::lock_guard hold(mutex_);
  std::vector<ChunkId> all;
  for (const auto& [chunk, subscription] : all_) all.push_back(chunk);
  return all;
}

// Readable at first: something may have come already.
int Subscriptions::descriptor(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  auto at = all_.find(chunk);
  if (at == all_.end()) return -1;
  if (!at->second.event) at->second.event.reset(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  return at->second.event.get();
}

void Subscriptions::before_take(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  auto at = all_.find(chunk);
  if (at != all_.end() && at->second.event) clear(at->second.event.get());
}

void Subscriptions::after_take(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  auto at = all_.find(chunk);
  if (at != all_.end() && at->second.event) raise(at->second.event.get());
}

// ---- Turns

bool Subscriptions::is_running(ChunkId chunk) const {
  return std::find(running_.begin(), running_.end(), chunk) != running_.end();
}

// A handler that waits in a call gets no other version meanwhile: its versions come in order.
std::deque<ChunkId>::iterator Subscriptions::next_to_run() {
  return std::find_if(queue_.begin(), queue_.end(),
                      [this](ChunkId chunk) { return !is_running(chunk); });
}

// Whether the next handler may begin.
bool Subscriptions::may_run() const {
  if (stopping_ || turn_taken_ || returning_ > 0) return false;
  return std::any_of(queue_.begin(), queue_.end(),
                     [this](ChunkId chunk) { return !is_running(chunk); });
}

// If the system gives no thread, the handlers wait for a thread that there is.
void Subscriptions::start_thread() {
  bool first = threads_.empty();
  try {
    threads_.push_back(platform::start_without_signals([this] { run(); }));
    ++idle_;
  } catch (const std::system_error&) {
    if (first) throw;
  }
}

void Subscriptions::give_turn() {
  Running& here = running_here_;
  if (here.owner == nullptr || !here.has_turn) return;
  here.has_turn = false;
  std::lock_guard hold(here.owner->mutex_);
  here.owner->end_turn();
}

void Subscriptions::end_turn() {
  turn_taken_ = false;
  if (may_run() && idle_ == 0) start_thread();
  changed_.notify_all();
}

void Subscriptions::take_turn() {
  Running& here = running_here_;
  if (here.owner == nullptr || here.has_turn) return;
  Subscriptions& all = *here.owner;
  std::unique_lock hold(all.mutex_);
  ++all.returning_;
  all.changed_.wait(hold, [&] { return !all.turn_taken_; });
  --all.returning_;
  all.turn_taken_ = here.has_turn = true;
}

void Subscriptions::run() {
  pthread_setname_np(pthread_self(), "terrane-events");
  std::unique_lock hold(mutex_);
  for (;;) {
    changed_.wait(hold, [&] { return stopping_ || may_run(); });
    if (stopping_) return;
    run_next(hold);
  }
}

// `hold`: of mutex_, which is not held while the handler runs.
void Subscriptions::run_next(std::unique_lock<std::mutex>& hold) {
  auto next = next_to_run();
  ChunkId chunk = *next;
  queue_.erase(next);
  auto at = all_.find(chunk);
  if (at == all_.end()) return;
  at->second.queued = false;
  Work work = at->second.work;
  if (!work) return;
  --idle_;
  turn_taken_ = true;
  running_.push_back(chunk);
  hold.unlock();
  running_here_ = {this, chunk, true};
  bool more = work();
  take_turn();
  running_here_ = {};
  work = {};  // the program's handler is gone before remove() returns
  hold.lock();
  std::erase(running_, chunk);
  ++idle_;
  at = all_.find(chunk);
  if (more && at != all_.end()) queue(chunk, at->second);
  end_turn();
}

}  // namespace terrane::runtime::chunks
