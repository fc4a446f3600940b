#include "transport/sleep_room.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "platform/wait.h"

namespace terrane::transport {

base::Result<> SleepRoom::create(SleepRoom& room) {
  room.poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  room.bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{.events = EPOLLIN, .data = {.fd = room.bell_.get()}};
  if (!room.poll_ || !room.bell_ ||
      ::epoll_ctl(room.poll_.get(), EPOLL_CTL_ADD, room.bell_.get(), &event) != 0) {
    return base::errno_error("transport: a descriptor to sleep on");
  }
  return {};
}

base::Result<> SleepRoom::watch(NewsSource& source, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return base::errno_error("transport: a descriptor to sleep on");
  }
  bool known = std::any_of(sources_.begin(), sources_.end(),
                           [&](const Source& one) { return one.news == &source; });
  if (!known) sources_.emplace_back().news = &source;
  watched_.push_back({&of(source), fd});
  return {};
}

SleepRoom::Source& SleepRoom::of(NewsSource& source) {
  return *std::find_if(sources_.begin(), sources_.end(),
                       [&](const Source& one) { return one.news == &source; });
}

// The bell is emptied only by who is alone here: another sleeper might not have heard it yet.
void SleepRoom::enter() {
  std::lock_guard hold(lock_);
  if (sleepers_.fetch_add(1) == 0) empty_bell();
}

void SleepRoom::empty_bell() {
  std::uint64_t count = 0;
  [[maybe_unused]] ssize_t got = ::read(bell_.get(), &count, sizeof count);
}

bool SleepRoom::must_wake() {
  bool news = false;
  for (Source& source : sources_) news = (!is_attended(source) && source.news->look()) || news;
  return news;
}

bool SleepRoom::arm_all() {
  bool armed = true;
  for (Source& source : sources_) armed = (is_attended(source) || source.news->arm()) && armed;
  return armed;
}

void SleepRoom::sleep(std::uint64_t timeout_ns) {
  std::uint64_t start_ns = platform::now_ns();
  enter();
  for (std::uint64_t slept_ns = 0;;) {
    // Where others attend to a source we leave it alone: they look, and to look beside them would
    // take turns with them at a lock that they hold nearly all the time. Whoever unattends arms the
    // descriptors and brings them back into sight.
    if (interrupts_.take() || must_wake()) break;
    if (slept_ns >= timeout_ns) break;
    // Descriptors are armed first and looked at afterwards by the kernel.
    if (!arm_all()) continue;
    show_descriptors();
    wait(timeout_ns - slept_ns);
    if (interrupts_.take()) break;
    slept_ns = platform::now_ns() - start_ns;
  }
  leave();
}

void SleepRoom::wait(std::uint64_t timeout_ns) {
  epoll_event event{};
  timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                   static_cast<long>(timeout_ns % 1'000'000'000)};
  if (::epoll_pwait2(poll_.get(), &event, 1, &timeout, nullptr) <= 0) return;
  if (event.data.fd != bell_.get()) return;
  std::unique_lock hold(lock_);
  if (sleepers_.load() == 1) return empty_bell();
  hold.unlock();
  ::sched_yield();  // the bell rings on until all others have heard it
}

void SleepRoom::show_descriptors() {
  std::lock_guard hold(lock_);
  for (Watched& watched : watched_) {
    bool show = !is_attended(*watched.source);
    if (show == watched.shown) continue;
    watched.shown = show;
    epoll_event event{.events = show ? EPOLLIN : 0u, .data = {.fd = watched.fd}};
    ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, watched.fd, &event);
  }
}

// False when there is something already.
bool SleepRoom::arm_for_sleepers() {
  bool armed = true;
  for (Source& source : sources_) {
    if (source.news->needs_arming()) armed = source.news->arm() && armed;
  }
  return armed;
}

void SleepRoom::attend() {
  if (attending_.fetch_add(1) != 0) return;
  for (Source& source : sources_) source.news->attended(true);
  if (sleepers_.load() != 0) show_descriptors();
}

bool SleepRoom::unattend() {
  if (attending_.fetch_sub(1) != 1) return false;  // others go on polling
  for (Source& source : sources_) source.news->attended(false);
  if (sleepers_.load() == 0) return true;
  bool armed = arm_for_sleepers();
  show_descriptors();
  return !armed;
}

void SleepRoom::attend(NewsSource& source) {
  Source& one = of(source);
  if (one.attending.fetch_add(1) != 0) return;
  source.attended(true);
  if (sleepers_.load() != 0) show_descriptors();
}

bool SleepRoom::unattend(NewsSource& source) {
  Source& one = of(source);
  if (one.attending.fetch_sub(1) != 1) return false;
  source.attended(false);
  if (attending_.load() != 0) return false;
  if (sleepers_.load() == 0) return true;
  bool armed = !source.needs_arming() || source.arm();
  show_descriptors();
  return !armed;
}

void SleepRoom::interrupt() {
  interrupts_.interrupt();
  ring();
}

void SleepRoom::ring() noexcept {
  if (sleepers_.load() == 0) return;
  int saved = errno;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t put = ::write(bell_.get(), &one, sizeof one);
  errno = saved;
}

}  // namespace terrane::transport
