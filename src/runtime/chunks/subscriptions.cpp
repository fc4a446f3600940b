#include "runtime/chunks/subscriptions.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>

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

Subscriptions::~Subscriptions() {
  {
    std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Subscriptions::add(ChunkId chunk, Work work) {
  std::lock_guard hold(mutex_);
  Subscription& subscription = all_[chunk];
  subscription.work = std::move(work);
  if (!subscription.work) return;
  if (!thread_.joinable()) thread_ = platform::start_without_signals([this] { run(); });
  queue(chunk, subscription);
}

void Subscriptions::remove(ChunkId chunk) {
  std::unique_lock hold(mutex_);
  all_.erase(chunk);
  if (std::this_thread::get_id() == thread_.get_id()) return;
  auto is_over = [&] { return running_ != chunk; };
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

void Subscriptions::run() {
  pthread_setname_np(pthread_self(), "terrane-events");
  std::unique_lock hold(mutex_);
  for (;;) {
    changed_.wait(hold, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    ChunkId chunk = queue_.front();
    queue_.pop_front();
    auto at = all_.find(chunk);
    if (at == all_.end()) continue;
    at->second.queued = false;
    Work work = at->second.work;
    running_ = chunk;
    hold.unlock();
    bool more = work && work();
    hold.lock();
    running_ = protocol::chunks::kNoChunk;
    changed_.notify_all();
    at = all_.find(chunk);
    if (more && at != all_.end()) queue(chunk, at->second);
  }
}

}  // namespace terrane::runtime::chunks
