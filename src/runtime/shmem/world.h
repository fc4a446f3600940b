#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/shmem/symmetric_memory.h"
#include "runtime/shmem/traffic.h"
#include "transport/transport.h"
#include "waiting/backoff.h"
#include "waiting/patience.h"

namespace terrane::runtime::shmem {

class StridedMail;

// A PE's place in its job, between the OpenSHMEM interface and the layers below: its number, and
// access to the memory of all PEs. Any thread may call any method at any time.
class World {
 public:
  virtual ~World() = default;

  virtual NodeId self() const = 0;
  virtual std::uint32_t pes() const = 0;
  // The index of the host of a PE.
  virtual std::uint32_t host_of(NodeId pe) const = 0;
  // The cluster of a PE, numbered from 0; calls between clusters are slow.
  virtual std::uint32_t cluster_of(NodeId) const { return 0; }
  // Whether every PE's memory is in reach: then waiting threads need not call progress().
  virtual bool one_host() const = 0;

  virtual const SymmetricMemory& memory() const = 0;
  // Access to the memory of PEs on other hosts (put, get, atomics); regions are numbered as in
  // Part.
  virtual transport::Transport& transport() = 0;

  Traffic& traffic() { return traffic_; }

  // Copies blocks at regular distances to and from other hosts; nullptr: there are none.
  virtual StridedMail* strided_mail() { return nullptr; }

  // Handles requests of and answers from other hosts; true: there were some. Does nothing on one
  // host.
  virtual bool progress() = 0;
  // Ends the job with one sentence, which names the call, the argument and the remedy. The launcher
  // adds the PE and its host.
  [[noreturn]] virtual void fail(std::string_view sentence) = 0;
  // The same if another host could not be reached. Before, the launcher, which knows which PE has
  // ended and why, has some seconds to report that and to end the job.
  [[noreturn]] virtual void fail_unreached(std::string_view sentence) = 0;

  // Returns when `ready()` is true. Spins, yields, then sleeps in steps that grow to 1 ms, because
  // the words that programs wait for are changed by plain stores, which wake no thread. After a
  // message from another host more may follow, so the wait starts again with spinning. A PE that
  // waits long calls tell(seconds) from time to time (Patience).
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

  // Sets the call that this thread is in, if calls are checked. `call` stays valid.
  static void now_in(const char* call) { call_ = call; }
  // The place of that call in the program, for the end of an error message; may be empty.
  virtual std::string place_of_call() const { return {}; }

 protected:
  // Sleeps, longer each time; a message ends the sleep. True: a message of another host was handled
  // meanwhile.
  virtual bool nap(std::uint64_t& nap_ns) = 0;
  // true: this thread calls progress() again and again from now on, so senders on other hosts need
  // not wake a thread here; false: it no longer does.
  virtual void attend(bool) {}

 private:
  void tell_of_wait(double seconds) const;

  static inline thread_local const char* call_ = nullptr;
  Traffic traffic_;
};

}  // namespace terrane::runtime::shmem
