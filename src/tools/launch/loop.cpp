#include "tools/launch/loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <ctime>

namespace terrane::tools {

std::uint64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

base::Result<std::unique_ptr<Loop>> Loop::create() {
  auto loop = std::make_unique<Loop>();
  loop->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop->epoll_) return base::errno_error("cannot watch the job");
  return loop;
}

bool Loop::control(int operation, int fd, std::uint32_t events, std::uint32_t watch) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{watch} << 32 | static_cast<std::uint32_t>(fd);
  return ::epoll_ctl(epoll_.get(), operation, fd, &event) == 0;
}

bool Loop::watch(int fd, std::uint32_t events, Handler handler) {
  std::uint32_t number = ++watches_begun_;
  if (!control(EPOLL_CTL_ADD, fd, events, number)) return false;
  watches_[fd] = {number, std::make_shared<Handler>(std::move(handler))};
  return true;
}

void Loop::change(int fd, std::uint32_t events) {
  auto found = watches_.find(fd);
  if (found != watches_.end()) control(EPOLL_CTL_MOD, fd, events, found->second.number);
}

void Loop::forget(int fd) {
  if (watches_.erase(fd) != 0) control(EPOLL_CTL_DEL, fd, 0, 0);
}

void Loop::turn() {
  epoll_event ready[64];
  int count = ::epoll_wait(epoll_.get(), ready, 64, wait_ms());
  for (int i = 0; i < count; ++i) {
    auto found = watches_.find(static_cast<int>(ready[i].data.u64 & UINT32_MAX));
    bool watched = found != watches_.end() && found->second.number == ready[i].data.u64 >> 32;
    if (!watched) continue;                                    // forgotten by a handler before
    std::shared_ptr<Handler> handler = found->second.handler;  // it may forget itself
    (*handler)(ready[i].events);
  }
  fire_due();
}

int Loop::wait_ms() const {
  std::uint64_t next = UINT64_MAX;
  for (const Timer* timer : timers_) {
    if (timer->is_set()) next = std::min(next, timer->at_ms_);
  }
  if (next == UINT64_MAX) return -1;
  std::uint64_t now = now_ms();
  return next <= now ? 0 : static_cast<int>(std::min<std::uint64_t>(next - now, INT32_MAX));
}

// One after the other, for a handler may make and destroy timers.
void Loop::fire_due() {
  std::uint64_t now = now_ms();
  std::vector<Timer*> due;
  for (Timer* timer : timers_) {
    if (timer->is_set() && timer->at_ms_ <= now) due.push_back(timer);
  }
  for (Timer* timer : due) {
    bool there = std::find(timers_.begin(), timers_.end(), timer) != timers_.end();
    if (!there || !timer->is_set() || timer->at_ms_ > now) continue;
    timer->clear();
    timer->handler_();
  }
}

Timer::Timer(Loop& loop, std::function<void()> handler)
    : loop_(loop), handler_(std::move(handler)) {
  loop_.timers_.push_back(this);
}

Timer::~Timer() { std::erase(loop_.timers_, this); }

void Timer::set_in(std::uint64_t ms) { at_ms_ = now_ms() + ms; }

}  // namespace terrane::tools
