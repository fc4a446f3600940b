#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "runtime/node.h"

// Mutexes, condition variables and other objects of the C library's threads that lie in shared
// memory are locks and counts of the job, by their address: they work between threads of any nodes,
// whether they were made with PTHREAD_PROCESS_SHARED or not. All that belongs to one is in its
// token (protocol/core/object_ids.h), so zeroed memory is an object that nobody has used; what the
// program chose at its initialisation and calls look up later (a mutex's type, a condition's clock)
// lies in the object itself. Objects elsewhere are the C library's, for the price of a comparison.
namespace terrane::frontend::pages {

using protocol::LockResult;
using protocol::ObjectKind;
using runtime::Node;

inline constexpr std::uint64_t kNoWait = 0, kForEver = ~0ull;

// The node of this process, or nullptr outside of a job.
Node* node();

inline bool is_shared(const volatile void* object) {
  return SharedRange::contains(const_cast<const void*>(object));
}

// From now on atomic operations on words of 1 to 8 bytes are done in their home's memory. in_space:
// gives the address at which the node sees a word of the program, which may be another one. Every
// node calls this.
void serve_atomics_at_home(const void* (*in_space)(const void* word));

// From now on the pages of words of 1 to 8 bytes become synchronisation pages with the first atomic
// operation on them, which is the machine's own. Every node calls this.
void serve_atomics_on_pages();

inline LockId id_of(ObjectKind kind, const volatile void* object) {
  return protocol::object_id(kind, reinterpret_cast<std::uintptr_t>(object));
}

// When a wait ends: `time` of `clock`, as of platform::now_ns(). False: it is no time, or no clock
// that waits can use.
bool deadline(clockid_t clock, const timespec* time, std::uint64_t& until_ns);

// While the latest one of a thread lives, and it may be, a wait of the thread ends when a handler
// without SA_RESTART has run.
class Interruptible {
 public:
  explicit Interruptible(bool may_be = true);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  bool is_interrupted() const;
  // Whether the calling thread's wait is to end.
  static bool ends_wait();

 private:
  struct Wait {
    bool may_be;
    std::uint32_t began;

    bool is_interrupted() const;
  };
  // In the memory of the node, for a wait looks at it: the stack of the thread is shared, and
  // another node may have taken its page meanwhile.
  static thread_local constinit Wait latest __attribute__((tls_model("initial-exec")));

  Wait before_;
  Wait own_;
};

// Takes a unit of a count; false: the time has come. A cancellation point, unless it does not wait.
bool take_cancellably(LockId count, std::uint64_t until_ns);
// A limit of such a wait, which also ends when the calling thread is cancelled, or is interrupted.
runtime::WaitLimit cancellable_limit(std::uint64_t until_ns);

// Says once, for each `said`, why a call fails; returns the error.
template <typename... Args>
int refuse(std::atomic_flag& said, int error, fmt::format_string<Args...> format, Args&&... args) {
  if (!said.test_and_set()) base::log(format, std::forward<Args>(args)...);
  return error;
}

// What the calling thread has of an object beyond what its token says: how often it took a
// recursive mutex again, how often it reads. One for each object, as long as there is something.
struct Hold {
  const volatile void* object;
  std::uint32_t times;
  bool writes;
  Hold* next;
};
// nullptr: nothing.
Hold* find_hold(const volatile void* object);
// False: there is no memory.
bool add_hold(const volatile void* object, bool writes);
void drop_hold(const volatile void* object);

}  // namespace terrane::frontend::pages
