#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "transport/interrupt_ledger.h"
#include "transport/spin_lock.h"
#include "transport/unique_fd.h"

namespace terrane::transport {

// Something that receives messages and can tell of them by a descriptor, so that one sleep covers
// several of them. Called by any thread.
class NewsSource {
 public:
  virtual ~NewsSource() = default;

  // Takes in what has come, and moves on what is queued. True when poll() has something to do.
  virtual bool look() = 0;
  // Sees to it that the descriptors tell of all that comes from now on; false when there is
  // something already.
  virtual bool arm() = 0;
  // False where the descriptors tell of whatever is there even if nobody armed them; sleepers arm
  // them all the same.
  virtual bool needs_arming() const { return true; }
  // While threads poll, descriptors are not watched: those who would write to them may save it.
  virtual void attended(bool) {}
};

// Where a transport's threads sleep: on descriptors, until there is news, an interrupt, or their
// time is over. Owns the descriptor that joins them all, and a bell for each sleeper: one that they
// shared would ring on, and wake all of them again and again, until the last has heard it.
// Thread-safe after the last watch(); sleeping allocates nothing.
class SleepRoom {
 public:
  SleepRoom() = default;
  SleepRoom(const SleepRoom&) = delete;
  SleepRoom& operator=(const SleepRoom&) = delete;

  static base::Result<> create(SleepRoom& room);

  // A source and a descriptor of it, which becomes readable; the source may have several.
  base::Result<> watch(NewsSource& source, int fd);

  // patience_ns: no descriptor wakes, but the sleeper looks by itself so often; 0: all do.
  void sleep(std::uint64_t timeout_ns, std::uint64_t patience_ns = 0);
  // Between the two, arrivals wake nobody: the descriptors are taken out of the sleepers' sight. A
  // system call for each, but where only patient ones sleep.
  void attend();
  // True: something is there already that nobody was woken for.
  bool unattend();
  // The same for what one source receives.
  void attend(NewsSource& source);
  bool unattend(NewsSource& source);
  bool is_attended() const { return attending_.load() != 0; }
  // Ends the sleep of every thread, now or the next one. Async-signal-safe.
  void interrupt();
  // There is something to do that no descriptor tells of: the sleeping threads look at the sources.
  void ring() noexcept;
  // A thread that has polled without attending leaves the descriptors as sleepers need them.
  void polled() {
    if (sleepers_.load() != 0 && attending_.load() == 0 && !arm_for_sleepers()) ring();
  }

 private:
  struct Source {
    NewsSource* news;
    std::atomic<std::uint32_t> attending{0};
  };
  struct Watched {
    Source* source;
    int fd;
    bool shown = true;
  };
  struct Bed {
    enum State : std::uint32_t { kFree, kTaken, kSleeping };
    std::atomic<std::uint32_t> state{kFree};
    UniqueFd bell;  // an eventfd: the first bed's from the start, others' when they are needed
  };
  // Those who find no bed, or no descriptor for its bell, look up now and then.
  static constexpr std::uint32_t kBeds = 128;
  static constexpr std::uint64_t kWithoutBellNs = 1'000'000;

  Source& of(NewsSource& source);
  bool is_attended(const Source& source) const {
    return attending_.load() != 0 || source.attending.load() != 0;
  }
  Bed* enter();
  void leave(Bed* bed);
  bool must_wake();
  bool arm_all();
  bool arm_for_sleepers();
  void show_descriptors();
  void wait(const Bed* bed, int fd, std::uint64_t timeout_ns);

  UniqueFd poll_;
  std::deque<Source> sources_;
  InterruptLedger interrupts_;
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> watchers_{0};  // of them, those that descriptors wake
  std::atomic<std::uint32_t> attending_{0};
  std::array<Bed, kBeds> beds_;
  std::atomic<std::uint32_t> beds_used_{0};  // those behind have never been slept in
  SpinLock lock_;                            // of what follows
  std::vector<Watched> watched_;
};

}  // namespace terrane::transport
