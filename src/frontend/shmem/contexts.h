#pragma once

#include <shmem.h>
#include <terrane/shmem/fast.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "runtime/shmem/context.h"

namespace terrane::frontend::shmem {

using runtime::shmem::Context;
using runtime::shmem::TeamShape;

// A context with what the program said when it made it. It begins with what the inlined calls read.
struct ContextObject : terrane_shmem_context {
  ContextObject(const TeamShape& shape, shmem_team_t team, long options);

  Context context;
  shmem_team_t team;
  long options;
  std::thread::id maker = std::this_thread::get_id();
  bool in_use = true;
  // The session that the program announced: hints, of which none changes what we do.
  std::atomic<bool> session{false};
  std::atomic<long> session_options{0};
  std::atomic<std::size_t> session_operations{SIZE_MAX};
};

// The contexts of this process. Owns them: a destroyed one is kept for the next that is made, so
// that a handle that the program uses too long names no freed memory. Making and destroying one
// takes the same time however many there are. Any thread; the lock is held while a context is made
// or destroyed, never while it is used.
class Contexts {
 public:
  static Contexts& of_process();

  // nullptr where options are none of SHMEM_CTX_...
  ContextObject* make(const TeamShape& shape, shmem_team_t team, long options);
  // Nothing where it was destroyed before.
  void destroy(ContextObject& context);
  // The ones that the program has left when it destroys their team; nothing is under way in them.
  void destroy_those_of(shmem_team_t team);
  // Whether it is one of ours that was not destroyed.
  bool has(shmem_ctx_t handle);
  // Of a world of so many PEs.
  ContextObject& standard(std::uint32_t pes);

 private:
  void retire(ContextObject& context);

  std::mutex mutex_;
  std::deque<ContextObject> made_;
  std::unordered_set<const void*> addresses_;  // of all in made_
  std::vector<ContextObject*> destroyed_;
};

}  // namespace terrane::frontend::shmem
