#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>

#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/threads/control.h"
#include "runtime/node.h"
#include "runtime/program/heap.h"
#include "runtime/program/own_stack.h"
#include "runtime/program/stacks.h"

namespace terrane::frontend::threads {

// The name of allocations that the heap cuts into blocks.
inline constexpr char kSmallBlocks[] = "small blocks";

// What a thread of this process is to the program. Without a constructor; initial-exec, for malloc
// looks at it, also in signal handlers.
struct ThreadState {
  Record* record;               // of a thread of the program; nullptr: one of ours, or of a library
  std::uint32_t keeps_private;  // it is in code of ours, whose memory is private
  std::uint32_t keeps_output;   // its operations do not send output first (output.h)
  std::uint32_t stdout_locks;   // of the program, on standard output (flockfile)
  runtime::Stack stack;
  void** values;        // of keys, with their generations
  void* private_stack;  // on which the C library runs it; nullptr: one that is not ours
  void* base;           // where pthread_exit leads to: a jmp_buf
  bool keeps_cancel_off;
  bool has_run;  // the program's function has returned, or called pthread_exit
};

ThreadState& this_thread();

// While the calling thread is in code of ours: what it allocates is private.
class Private {
 public:
  Private() { ++this_thread().keeps_private; }
  ~Private() { --this_thread().keeps_private; }
  Private(const Private&) = delete;
};

// Whether the calling thread is in code of the program, or of the C library on its behalf.
bool is_in_program();

// Thread-local variables of the program or one of its libraries, as the calling thread has them.
struct ThreadLocals {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};
std::vector<ThreadLocals> thread_locals();

// The program on this node: its shared heap, stacks and what the nodes share. One for the process,
// made before main; never destroyed, since threads run on while the process exits.
class Program final : public runtime::HeapMemory {
 public:
  // nullptr: this process is no node of a program (it was not started by `terrane threads`).
  static Program* get();
  // Joins the job and makes the program's memory shared. Ends the process with a sentence where
  // that cannot be. Every node, before main, as the only thread of the program.
  static void start();

  runtime::Node& node() const { return *node_; }
  std::uint32_t self() const { return self_; }
  // The first so many nodes run threads of the program. The others lend their memory alone.
  std::uint32_t working() const { return working_; }
  bool lends() const { return self_ >= working_; }
  Control& control() const { return *control_; }
  runtime::Heap& heap() { return *heap_; }
  runtime::Stacks& stacks() { return *stacks_; }
  // Whether a function at this address allocates for the program: its own code does, and that of
  // the libraries that are written in its language.
  bool allocates_shared(const void* caller) const;
  // Whether an instruction lies in the program or in one of its own libraries.
  bool is_own(const void* code) const;
  // Those of the process's first thread: on node 0 main's, elsewhere nobody's. The same addresses
  // on all nodes.
  const std::vector<ThreadLocals>& first_thread_locals() const { return program_tls_; }
  // Where the program sees a block of the node's: static data at their own addresses.
  std::uintptr_t address_of(std::uint64_t block) const;
  std::uint64_t block_of(const void* address) const;  // of shared memory

  // As take_region, with a policy of its own, and a name (empty: the place of the call).
  void* take_region(std::uint64_t bytes, const protocol::RegionPolicy& policy,
                    const std::string& name = {}, bool sparse = false);

  // Static data of libraries that are opened after the start: that many bytes, the same on all
  // nodes, which no thread has touched. nullptr: no memory is left for them. On node 0.
  void* take_late_data(std::uint64_t bytes);
  // From now on this node sees the parts at their addresses. By one thread at a time; the sentence
  // of what keeps it from that, or empty.
  std::string place(const std::vector<runtime::Pane>& panes);

  // Puts a command into a node's mail.
  void send(std::uint32_t node, Command command);
  // Serves this node's mail; never returns.
  [[noreturn]] void serve();

  // HeapMemory
  void* take_region(std::uint64_t bytes, bool sparse) override {
    return take_region(bytes, {}, {}, sparse);
  }
  void give_region(void* region) override;
  std::uint64_t most_bytes() const override;
  runtime::HeapMail& lock_mail(std::uint32_t node) override;
  void unlock_mail(std::uint32_t node) override;

 private:
  void share_image();
  void take_room_for_late_data();
  void share_control();
  void compare_builds();
  void place_threads();

  runtime::Node* node_ = nullptr;
  std::uint32_t self_ = 0, nodes_ = 1, working_ = 1;
  Control* control_ = nullptr;
  std::unique_ptr<runtime::Heap> heap_;
  std::unique_ptr<runtime::Stacks> stacks_;
  std::vector<ThreadLocals> program_tls_;
  platform::Panes panes_;  // of static data, by their offsets in shared memory
  std::uintptr_t late_data_ = 0, late_end_ = 0;
};

// pthread_create of the program. An error number, or 0.
int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument);
// Runs function(argument) in a thread of the program on that node, and waits until it returns. An
// error number, or 0.
int run_on(std::uint32_t node, void* (*function)(void*), void* argument);
// The same of a call that may end early with EINTR: a handler without SA_RESTART has run, or the
// calling thread was cancelled in a call that it has entered (Cancelling::enter). The other thread
// was cancelled then, too.
int run_interruptibly_on(std::uint32_t node, void* (*function)(void*), void* argument);
// The same on every other node, one after the other.
void run_on_others(void* (*function)(void*), void* argument);
// A thread for run_on; nullptr: there can be no more.
Record* create_server(std::uint32_t node, void* (*function)(void*), void* argument);
// From now on calls about descriptors and streams of other nodes run there. Every node, after the
// cards are written.
void share_files(const Program& program);
// From now on what the program has used is what all nodes have. Every node.
void share_use(const Program& program);
// From now on functions of SIGEV_THREAD run in threads of the program. Every node.
void share_notices(const Program& program);

// Makes the C library's list of what a child does with its files, for the caller to destroy. False:
// `from` is such a list itself.
bool copy_spawn_actions(const posix_spawn_file_actions_t& from, posix_spawn_file_actions_t& to);

// What the C library has for a semaphore of this node that the program has opened by its name, or
// the semaphore itself.
sem_t* own_semaphore(sem_t* semaphore);

// Which place of the program has called: its file and the address there. Empty: none has.
std::string place_of_call();
// A sentence about a function of the program, or of a library before ours, that replaces a function
// which a whole program's memory needs. Empty: there is none.
std::string hidden_by();

// Which processors of its host the thread may use: pthread_setaffinity_np.
int set_processors_of(Record& record, std::size_t bytes, const cpu_set_t* set);
// Starts the thread of a record on this node. An error number, or 0.
int start_here(Record& record);
// Runs function(argument) as the program's thread of that record, on a stack in shared memory,
// until it returns or calls pthread_exit; the result. The calling thread's own stack serves the
// runtime.
void* run_as(Record& record, runtime::Stack stack, void* (*function)(void*), void* argument);
// Ends the calling thread, as pthread_exit does.
[[noreturn]] void end_thread(void* result);
// nullptr: no thread of the program.
Record* record_of(pthread_t thread);
// Values of keys of the calling thread are destroyed.
void destroy_values();
// The calling thread has ended, but for what the C library does afterwards.
void thread_has_ended(Record& record);

// Ends the program on all nodes with this exit code: handlers and static destructors run here, on
// node 0; what the other nodes have written is flushed.
[[noreturn]] void end_program(int code);
// The same without any of that.
[[noreturn]] void end_at_once(int code);
// On a node other than 0: asks node 0 for the end.
[[noreturn]] void ask_for_end(int code);

}  // namespace terrane::frontend::threads
