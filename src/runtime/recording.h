#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "runtime/engine.h"
#include "runtime/page_space.h"
#include "runtime/program_names.h"
#include "runtime/recorded_op.h"
#include "runtime/thread_context.h"

namespace terrane::runtime {

// Records what the threads of a node do: how long they compute, which pages they use between two
// operations by which they hear of others, which parts of pages they change, and the operations
// themselves (docs/decisions/0106). For that, an acquire removes the node's pages from the
// program's view, so that the next use of each faults; the protocol knows such faults, since the
// kernel removes pages as well. All is kept in memory until the end. Any thread, also in the
// handler of a fault: takes no memory.
class Recording {
 public:
  static constexpr std::uint64_t kMostBytes = 1ull << 30;  // of a node

  // folder: where the node's file is written at the end. with_pages: else the recording is of times
  // and operations alone, which costs next to nothing. The space outlives this.
  static base::Result<std::unique_ptr<Recording>> create(std::string folder, PageSpace& space,
                                                         platform::FaultSourceKind kind,
                                                         bool with_pages);

  // The thread has computed until now; and it computes from now on. May be nested. By a thread on
  // its own stack.
  void pause(const ThreadContext& context);
  void go_on(const ThreadContext& context);
  // The same where a page fault has interrupted the thread.
  void pause_for_fault(const ThreadContext& context);
  // The thread waits by this operation; it may be the last thing that it does.
  void note_waiting(const ThreadContext& context, const RecordedOp& op);
  // What the thread has done meanwhile. acquires: it may have heard of what others did.
  void note(const ThreadContext& context, RecordedOp op, bool acquires);
  // The block has become present for a thread that faulted on it.
  void note_use(const ThreadContext& context, std::uint64_t block, bool write, bool synchronises);
  // A release found this difference. By any thread; it counts for the one that used the block last.
  void note_written(std::uint64_t block, const std::byte* page, const std::byte* twin);
  // Writes the files: NODE.record, and NODE.names of what it uses (recorded_names.h). No thread of
  // the program goes on.
  // Collective.
  base::Result<> write(bootstrap::Bootstrap& job, Engine& engine, const ProgramNames& names);

 private:
  struct Thread {
    std::uint64_t mark_ns = 0;  // processor time until which all is accounted for
    std::uint64_t work_ns = 0;  // computed, and not noted yet
    std::uint64_t last = 0;     // its last operation that may be extended: index + 1
    std::uint32_t depth = 0;
    std::int32_t number = 0;  // the kernel's; contexts are used again
    bool waits = false;       // by this operation
    RecordedOp waiting;
  };

  Recording(std::string folder, PageSpace& space, bool with_pages)
      : folder_(std::move(folder)), space_(space), with_pages_(with_pages) {}
  Thread& state_of(const ThreadContext& context);
  void begin_thread(std::uint32_t self, Thread& thread);
  void add(std::uint32_t thread, const RecordedOp& op);
  void add_work(std::uint32_t number, Thread& thread, std::uint64_t least_ns);
  void add_blocks(std::uint32_t number, RecordedOp op);
  void hide_used();
  void add_places(Engine& engine);
  base::Result<> write_names(bootstrap::Bootstrap& job, Engine& engine, const ProgramNames& names);

  std::string folder_;
  PageSpace& space_;
  const bool with_pages_;
  std::uint64_t fault_ns_ = 0;  // processor time of a fault outside of its handler
  std::mutex mutex_;            // of all below
  SparseMemory ops_;            // RecordedOp
  std::uint64_t count_ = 0, left_out_ = 0;
  SparseMemory threads_;  // Thread, by number
  SparseMemory users_;    // of each block: the number of the thread that used it last, plus 1
  SparseMemory used_;     // blocks in the view that were used since the last acquire
  std::uint64_t used_count_ = 0;
  std::uint32_t last_thread_ = ~0u;  // that did anything but compute
  std::uint64_t events_ = 0;
};

// The calling thread is in an operation that a recording notes, as long as this object lives.
// recording: nullptr: none does.
class RecordedCall {
 public:
  RecordedCall(Recording* recording, ThreadRegistry& threads);
  // It waits by this operation.
  RecordedCall(Recording* recording, ThreadRegistry& threads, const RecordedOp& op);
  ~RecordedCall();
  RecordedCall(const RecordedCall&) = delete;

  // The operation has done that.
  void note(const RecordedOp& op, bool acquires);

 private:
  Recording* recording_;
  ThreadRegistry& threads_;
};

}  // namespace terrane::runtime
