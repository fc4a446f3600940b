#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/shmem/job_world.h"
#include "runtime/shmem/teams.h"

namespace terrane::frontend::shmem {

// When this process is a PE: counts its initialisations, and fills terrane_shmem_fast between the
// first and the last. Owns the World, which outlives the last shmem_finalize: peers may still read
// this PE's memory then, and an initialisation after it finds everything in its place. Any thread.
class Lifetime {
 public:
  static Lifetime& of_process();

  // What shmem_init and its kin do; they end the job when they cannot. `call` is the function that
  // the program called, `threads` a SHMEM_THREAD_ level. Returns the level provided.
  int begin(const char* call, int threads);
  // As begin(), for start_pes: once at most.
  void begin_until_exit();
  void end(const char* call);
  // The job has been ended: the exit of the process waits for nobody.
  void forget_end() { job_has_ended_.store(true); }

  bool is_initialised() const { return world() != nullptr; }
  int threads() const { return threads_; }
  runtime::shmem::JobWorld* world() const { return world_.load(std::memory_order_acquire); }
  // Ends the job where the level of threads forbids this one to make the call.
  void check_thread(const char* call);
  // Between the first initialisation and the last end.
  runtime::shmem::Teams& teams() const { return *teams_; }
  // For a call before the first initialisation, after the last end, or in a child of a PE.
  [[noreturn]] void fail_outside(const char* call);
  // Ends the job with a sentence, whether or not this process has joined it.
  [[noreturn]] void fail(std::string_view sentence);

 private:
  Lifetime() = default;
  void join(const char* call);
  void start_teams();
  void fill_fast_path();
  void become_child();
  static void end_at_exit(int status, void*);

  std::mutex mutex_;  // of begin and end
  std::unique_ptr<runtime::shmem::JobWorld> owned_;
  std::unique_ptr<runtime::shmem::Teams> teams_;  // between join() and the last end
  std::atomic<runtime::shmem::JobWorld*> world_{nullptr};
  std::vector<std::ptrdiff_t> heap_deltas_, statics_deltas_;
  int begun_ = 0;
  int threads_ = 0;
  std::thread::id initialiser_;
  bool until_exit_ = false;  // start_pes: the program has no other way
  bool ends_at_exit_ = false;
  std::atomic<bool> job_has_ended_{false};
  bool is_child_ = false;
};

}  // namespace terrane::frontend::shmem
