#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/shmem/symmetric_memory.h"
#include "runtime/waiting/backoff.h"
#include "runtime/waiting/patience.h"
#include "transport/transport.h"

namespace terrane::runtime::shmem {

class StridedMail;

// A PE's place in its job, between the OpenSHMEM interface and the layers below: its number, the
// memory of all PEs, and the ways to it. Every method may be called by any thread at any time.
class World {
 public:
  virtual ~World() = default;

  virtual NodeId self() const = 0;
  virtual std::uint32_t pes() const = 0;
  // The host of a PE, as an index.
  virtual std::uint32_t host_of(NodeId pe) const = 0;
  // The cluster of a PE, numbered from 0; calls between clusters are slow.
  virtual std::uint32_t cluster_of(NodeId) const { return 0; }
  // Every PE's memory is in reach: nothing has to be moved on while somebody waits.
  virtual bool one_host() const = 0;

  virtual const SymmetricMemory& memory() const = 0;
  // Ways to the memory of PEs on other hosts (put, get, atomics); regions are numbered as in Part.
  virtual transport::Transport& transport() = 0;

  // Copies of blocks at regular distances to and from other hosts; nullptr where there are none.
  virtual StridedMail* strided_mail() { return nullptr; }

  // Moves on what other hosts want of us and we of them; true when something moved. Nothing to do
  // on one host.
  virtual bool progress() = 0;
  // Ends the job: one sentence that names the call, the argument and what mends it. The launcher
  // adds the PE and its host.
  [[noreturn]] virtual void fail(std::string_view sentence) = 0;
  // The same where another host could not be reached: the launcher, which knows which PE has ended
  // and why, has some seconds to say so and to end the job.
  [[noreturn]] virtual void fail_unreached(std::string_view sentence) = 0;

  // Returns once `ready()` is true. Spins, yields, then sleeps in steps that grow to 1 ms: the
  // words that programs wait for are changed by plain stores, which wake nobody. Where something
  // comes from another host what comes next is on its way: the wait begins anew.
  // A PE that waits long calls tell(seconds), now and then (Patience).
  template <typename Ready, typename Tell>
  void wait_until(Ready ready, Tell tell) {
    if (ready()) return;
    waiting::Backoff backoff;
    waiting::Patience patience;
    std::uint64_t nap_ns = 0;
    const bool far = !one_host();
    if (far) attend(true);
    while (!ready()) {
      bool moved = far && progress();
      if (!moved && backoff.pause()) continue;
      if (!moved) moved = nap(nap_ns);
      if (double seconds = patience.due(); seconds > 0) tell(seconds);
      if (!moved) continue;
      backoff = {};
      nap_ns = 0;
    }
    if (far) attend(false);
  }
  template <typename Ready>
  void wait_until(Ready ready) {
    wait_until(std::move(ready), [this](double seconds) { tell_of_wait(seconds); });
  }

  // Where calls are checked: the one that this thread is in. The name stays.
  static void now_in(const char* call) { call_ = call; }
  // Where the program made it, for the end of a sentence; or nothing.
  virtual std::string place_of_call() const { return {}; }

 protected:
  // Sleeps, longer each time; ends early for a message. True when another host has wanted something
  // meanwhile.
  virtual bool nap(std::uint64_t& nap_ns) = 0;
  // From now on this thread calls progress() again and again, or no longer does: senders of other
  // hosts then need not wake anybody here.
  virtual void attend(bool) {}

 private:
  void tell_of_wait(double seconds) const;

  static inline thread_local const char* call_ = nullptr;
};

}  // namespace terrane::runtime::shmem
