#include "transport/interrupt_ledger.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/own_process.h"

namespace terrane::transport {

InterruptLedger::Slot* InterruptLedger::slot_of(std::uint32_t thread) noexcept {
  for (std::uint32_t probe = 0; probe < kSlots; ++probe) {
    Slot& slot = slots_[(thread + probe) % kSlots];
    std::uint32_t owner = slot.thread.load();
    if (owner == thread) return &slot;
    if (owner == 0 && slot.thread.compare_exchange_strong(owner, thread)) return &slot;
  }
  return slot_of_a_dead_thread(thread);
}

InterruptLedger::Slot* InterruptLedger::slot_of_a_dead_thread(std::uint32_t thread) noexcept {
  int saved = errno;
  Slot* found = nullptr;
  for (std::uint32_t probe = 0; probe < kSlots; ++probe) {
    Slot& slot = slots_[(thread + probe) % kSlots];
    std::uint32_t owner = slot.thread.load();
    if (::tgkill(base::own_process(), static_cast<pid_t>(owner), 0) == 0) continue;
    if (!slot.thread.compare_exchange_strong(owner, thread)) continue;
    slot.seen.store(0);
    found = &slot;
    break;
  }
  errno = saved;
  return found;
}

bool InterruptLedger::take() noexcept {
  std::uint32_t epoch = epoch_.load();
  if (epoch == 0) return false;
  Slot* slot = slot_of(static_cast<std::uint32_t>(::gettid()));
  // With more sleepers than slots, hearing of old interrupts again beats missing one.
  return slot == nullptr || slot->seen.exchange(epoch) != epoch;
}

}  // namespace terrane::transport
