#include "runtime/chunks/members.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>

#include "platform/wait.h"
#include "runtime/chunks/subscriptions.h"

namespace terrane::runtime::chunks {

void Members::add(MemberChange change) {
  std::lock_guard hold(mutex_);
  all_.push_back(std::move(change));
  show();
  changed_.notify_all();
}

std::optional<MemberChange> Members::next(std::uint64_t deadline_ns) {
  std::unique_lock hold(mutex_);
  while (all_.empty()) {
    std::uint64_t now = platform::now_ns();
    if (now >= deadline_ns) return std::nullopt;
    std::uint64_t left = std::min<std::uint64_t>(deadline_ns - now, 1'000'000'000);
    Subscriptions::give_turn();
    changed_.wait_for(hold, std::chrono::nanoseconds(left));
  }
  MemberChange change = std::move(all_.front());
  all_.pop_front();
  show();
  return change;
}

int Members::descriptor() {
  std::lock_guard hold(mutex_);
  if (!event_) event_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  show();
  return event_.get();
}

// The descriptor is readable while there is a change.
void Members::show() {
  if (!event_) return;
  std::uint64_t count = 1;
  if (all_.empty()) {
    [[maybe_unused]] auto read = ::read(event_.get(), &count, sizeof count);
  } else {
    [[maybe_unused]] auto written = ::write(event_.get(), &count, sizeof count);
  }
}

}  // namespace terrane::runtime::chunks
