#include "frontend/pages/objects/shared_object.h"

#include <new>

#include "frontend/interpose/cancelling.h"
#include "platform/program_handlers.h"
#include "platform/wait.h"

namespace terrane::frontend::pages {
namespace {

// Without a destructor: objects of the program may be given back while the thread ends.
thread_local Hold* first_hold = nullptr;

}  // namespace

bool deadline(clockid_t clock, const timespec* time, std::uint64_t& until_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return false;
  timespec now{};
  if (time->tv_nsec < 0 || time->tv_nsec >= kSecond || clock_gettime(clock, &now) != 0)
    return false;
  std::int64_t seconds = static_cast<std::int64_t>(time->tv_sec) - now.tv_sec;
  std::uint64_t now_ns = platform::now_ns();
  until_ns = now_ns;
  if (seconds > INT32_MAX) {
    until_ns = kForEver;
  } else if (seconds >= -1) {
    std::int64_t left = seconds * kSecond + time->tv_nsec - now.tv_nsec;
    if (left > 0) until_ns += static_cast<std::uint64_t>(left);
  }
  return true;
}

runtime::WaitLimit cancellable_limit(std::uint64_t until_ns) {
  if (Cancelling::get() == nullptr) return until_ns;
  return {until_ns, [] { return Cancelling::get()->is_to_wake() || Interruptible::ends_wait(); }};
}

thread_local constinit Interruptible::Wait Interruptible::latest = {};

bool Interruptible::Wait::is_interrupted() const {
  return may_be && platform::interruptions() != began;
}

Interruptible::Interruptible(bool may_be)
    : before_(latest), own_{may_be, platform::interruptions()} {
  latest = own_;
}

Interruptible::~Interruptible() { latest = before_; }

bool Interruptible::is_interrupted() const { return own_.is_interrupted(); }

bool Interruptible::ends_wait() { return latest.is_interrupted(); }

bool take_cancellably(LockId count, std::uint64_t until_ns) {
  auto take = [&] { return node()->take_units(count, {}, cancellable_limit(until_ns)); };
  if (until_ns == kNoWait) return take();
  return cancellable(take, [](bool is_taken) { return !is_taken; });
}

Hold* find_hold(const volatile void* object) {
  for (Hold* hold = first_hold; hold != nullptr; hold = hold->next)
    if (hold->object == object) return hold;
  return nullptr;
}

bool add_hold(const volatile void* object, bool writes) {
  auto* hold = new (std::nothrow) Hold{object, 1, writes, first_hold};
  if (hold == nullptr) return false;
  first_hold = hold;
  return true;
}

void drop_hold(const volatile void* object) {
  for (Hold** at = &first_hold; *at != nullptr; at = &(*at)->next) {
    if ((*at)->object != object) continue;
    Hold* hold = *at;
    *at = hold->next;
    delete hold;
    return;
  }
}

}  // namespace terrane::frontend::pages
