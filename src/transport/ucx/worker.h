#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "transport/spin_lock.h"
#include "transport/ucx/door.h"
#include "transport/ucx/ucx_api.h"

namespace terrane::transport::ucx {

struct WorkerOptions {
  std::string devices;  // UCX_NET_DEVICES
  std::uint32_t nodes = 1;
  bool sockets_alone = false;  // none of the devices is RDMA
  bool one_sided = false;      // UCX serves puts and gets of peers, and atomics
};

// UCX's side of a node: one context, one worker, and the lock that lets one thread at a time into
// it. Owns them. A thread that is inside may enter again, as a receiver does that sends.
class Worker {
 public:
  static base::Result<std::unique_ptr<Worker>> create(const WorkerOptions& options);
  // One that calls these functions and has no library behind it: for tests of what comes in.
  explicit Worker(const UcxApi& api) : api_(api) {}
  ~Worker();
  Worker(const Worker&) = delete;

  const UcxApi& api() const { return api_; }
  ucp_worker_h handle() const { return worker_; }
  int event_fd() const { return event_fd_; }
  base::Result<std::vector<std::byte>> address() const;
  // Lets peers reach this memory, until the worker ends: by the key that is returned. It may be
  // larger than what the machine has, and is not touched.
  base::Result<std::vector<std::byte>> expose(std::byte* base, std::uint64_t bytes);
  // What peers need to connect to us.
  Door door() const { return keeper_->door(); }
  // What we need to connect to this peer.
  void know(const Door& peer) { keeper_->know(peer); }
  const char* text_of(ucs_status_t status) const { return api_.status_string(status); }
  // Of the library that is loaded, as "1.13.1".
  const char* version() const { return api_.get_version_string(); }

  // Whether the calling thread is inside.
  bool inside() const { return owner_.load(std::memory_order_relaxed) == ::pthread_self(); }
  bool try_enter() {
    if (!lock_.try_lock()) return false;
    own();
    return true;
  }
  void enter() {
    lock_.lock();
    own();
  }
  void leave() {
    owner_.store(kNobody, std::memory_order_relaxed);
    lock_.unlock();
  }

  // Enters and stays, as the process exits: no thread calls UCX any more once it begins to end.
  // Gives up after a second, if another thread does not leave. Not to be called by its owner's
  // child of a fork, where that thread may be missing.
  void close();

  // From here on by the thread that is inside.
  unsigned progress() { return api_.worker_progress(worker_); }
  // True when the event descriptor will tell of all that comes from now on; false when there is
  // something already.
  bool arm() { return api_.worker_arm(worker_) == UCS_OK; }

 private:
  Worker() = default;
  base::Result<> start(const WorkerOptions& options);
  base::Result<> configure(ucp_config_t* config, const WorkerOptions& options);
  base::Result<> failed(const char* what, ucs_status_t status) const;
  void own() { owner_.store(::pthread_self(), std::memory_order_relaxed); }

  static constexpr pthread_t kNobody{};  // no thread of this C library

  UcxApi api_{};
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::unique_ptr<DoorKeeper> keeper_;  // ends after the worker
  std::vector<ucp_mem_h> exposed_;
  int event_fd_ = -1;  // UCX's own
  SpinLock lock_;
  std::atomic<pthread_t> owner_{
      kNobody};  // one word: a thread reads its own name only while inside
};

}  // namespace terrane::transport::ucx
