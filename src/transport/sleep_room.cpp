#include "transport/sleep_room.h"

#include <poll.h>
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
  room.beds_[0].bell.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!room.poll_ || !room.beds_[0].bell) {
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

// Null where all beds are taken. A thread that rings afterwards rings for us, too; what was rung
// for before, the caller finds by looking.
SleepRoom::Bed* SleepRoom::enter() {
  Bed* ours = nullptr;
  for (Bed& bed : beds_) {
    std::uint32_t free = Bed::kFree;
    if (!bed.state.compare_exchange_strong(free, Bed::kTaken)) continue;
    ours = &bed;
    break;
  }
  if (ours != nullptr) {
    if (!ours->bell) ours->bell.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    auto used = static_cast<std::uint32_t>(ours - beds_.data()) + 1;
    std::uint32_t known = beds_used_.load();
    while (known < used && !beds_used_.compare_exchange_weak(known, used)) {
    }
    ours->state.store(Bed::kSleeping);
  }
  sleepers_.fetch_add(1);
  return ours;
}

void SleepRoom::leave(Bed* bed) {
  sleepers_.fetch_sub(1);
  if (bed != nullptr) bed->state.store(Bed::kFree);
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

void SleepRoom::sleep(std::uint64_t timeout_ns, std::uint64_t patience_ns) {
  std::uint64_t start_ns = platform::now_ns();
  Bed* bed = enter();
  if (patience_ns == 0) watchers_.fetch_add(1);
  for (std::uint64_t slept_ns = 0;;) {
    // Where others attend to a source we leave it alone: they look, and to look beside them would
    // take turns with them at a lock that they hold nearly all the time. The thread that unattends
    // arms the descriptors and puts them back.
    if (interrupts_.take() || must_wake()) break;
    if (slept_ns >= timeout_ns) break;
    if (patience_ns != 0) {
      wait(bed, -1, std::min(patience_ns, timeout_ns - slept_ns));
    } else {
      // Descriptors are armed first and looked at afterwards by the kernel.
      if (!arm_all()) continue;
      show_descriptors();
      wait(bed, poll_.get(), timeout_ns - slept_ns);
    }
    if (interrupts_.take()) break;
    slept_ns = platform::now_ns() - start_ns;
  }
  if (patience_ns == 0) watchers_.fetch_sub(1);
  leave(bed);
}

// Until the descriptor (-1: none) is readable, or the bell rings.
void SleepRoom::wait(const Bed* bed, int fd, std::uint64_t timeout_ns) {
  int bell = bed != nullptr ? bed->bell.get() : -1;
  if (bell < 0) timeout_ns = std::min(timeout_ns, kWithoutBellNs);
  timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                   static_cast<long>(timeout_ns % 1'000'000'000)};
  pollfd on[] = {{.fd = fd, .events = POLLIN, .revents = 0},  // ppoll passes over -1
                 {.fd = bell, .events = POLLIN, .revents = 0}};
  if (::ppoll(on, 2, &timeout, nullptr) <= 0 || on[1].revents == 0) return;
  std::uint64_t rung = 0;
  [[maybe_unused]] ssize_t got = ::read(bell, &rung, sizeof rung);
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
  if (watchers_.load() != 0) show_descriptors();
}

bool SleepRoom::unattend() {
  if (attending_.fetch_sub(1) != 1) return false;  // others go on polling
  for (Source& source : sources_) source.news->attended(false);
  if (sleepers_.load() == 0) return true;
  bool armed = arm_for_sleepers();
  if (watchers_.load() != 0) show_descriptors();
  return !armed;
}

void SleepRoom::attend(NewsSource& source) {
  Source& one = of(source);
  if (one.attending.fetch_add(1) != 0) return;
  source.attended(true);
  if (watchers_.load() != 0) show_descriptors();
}

bool SleepRoom::unattend(NewsSource& source) {
  Source& one = of(source);
  if (one.attending.fetch_sub(1) != 1) return false;
  source.attended(false);
  if (attending_.load() != 0) return false;
  if (sleepers_.load() == 0) return true;
  bool armed = !source.needs_arming() || source.arm();
  if (watchers_.load() != 0) show_descriptors();
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
  std::uint32_t used = beds_used_.load();
  for (std::uint32_t i = 0; i < used; ++i) {
    Bed& bed = beds_[i];
    if (bed.state.load() != Bed::kSleeping || !bed.bell) continue;
    [[maybe_unused]] ssize_t put = ::write(bed.bell.get(), &one, sizeof one);
  }
  errno = saved;
}

}  // namespace terrane::transport
