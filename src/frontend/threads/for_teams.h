#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// What libterrane_threads offers to a library that runs teams of threads on a program's nodes
// (src/frontend/omp). C names, since both libraries are loaded apart. Only for threads of the
// program, after its start. Before it, while constructors of libraries run, there is one node with
// one thread, main's, which makes no team: locks, counters and memory are the process's own, and
// what is about teams may not be called.
extern "C" {

// Whether the program has started on this node.
bool terrane_program_has_started();
// Which node this is, and how many run threads of the program. Those that lend their memory alone
// are not counted; they come after the others.
std::uint32_t terrane_program_node();
std::uint32_t terrane_program_nodes();
// Whether two nodes are on one host.
bool terrane_program_are_together(std::uint32_t node, std::uint32_t other);
// Whether some of those that run threads are on other hosts.
bool terrane_program_is_spread();
// Places for threads, of all nodes together.
std::uint32_t terrane_program_places();
// Whether the calling thread is that of main.
bool terrane_program_is_main();
// Shared memory of zeros, which is never given back. Ends the program where there is none.
void* terrane_program_memory(std::size_t bytes);
// Pointers in shared memory, which are nullptr at first: the library of teams keeps what all nodes
// have to find there.
enum terrane_program_kept { kProgramScalars, kProgramFormat, kProgramPrivates, kProgramRoots };
void** terrane_program_root(terrane_program_kept what);
// As terrane_program_memory in whole pages, whose homes `homes` and `node` name for good; nullptr:
// there is none. Of blocks each node that runs threads gets one; cyclic: a page of each node in
// turn, from node 0, also of those that lend their memory: of so many nodes as cycle_nodes says.
// `node`: of kProgramOnNode. give: it is not used any more.
enum terrane_program_homes { kProgramFirstTouch, kProgramBlocks, kProgramCyclic, kProgramOnNode };
void* terrane_program_homed_memory(std::size_t bytes, terrane_program_homes homes,
                                   std::uint32_t node);
std::uint32_t terrane_program_cycle_nodes();
void terrane_program_give_memory(void* memory);
// An operation on an aligned word of 8 bytes of shared memory, in the memory of its home: what the
// word was. The home's threads see the word by a plain load; nothing else is seen with it.
enum terrane_program_operation {
  kProgramLoad,
  kProgramStore,
  kProgramAdd,
  kProgramOr,
  kProgramAnd
};
std::uint64_t terrane_program_atomic(terrane_program_operation operation, void* word,
                                     std::uint64_t operand);
// From now on relaxed atomic operations of the program carry nothing but their word, which is
// changed in its home's memory. Every node calls this, before the program uses any.
void terrane_program_relax_atomics();
// Serves the other nodes, for a thread that computes.
void terrane_program_look();
// Calls the function again and again, so many microseconds apart, in a thread of this node that is
// none of the program's.
void terrane_program_repeat(void (*function)(), std::uint32_t pause_us);
// Private memory of this node, of zeros and aligned to 64 bytes, which is never given back. Ends
// the program where there is none.
void* terrane_program_private_memory(std::size_t bytes);
// For threads of this node, by a word of its private memory: waits while the word has that value,
// or shorter; wakes all that wait so. `polls`: for some time before the thread sleeps.
void terrane_program_wait(std::atomic<std::uint32_t>* word, std::uint32_t value, bool polls);
void terrane_program_wake(std::atomic<std::uint32_t>* word);
// Starts a detached thread on a node. An error number, or 0.
int terrane_program_thread(std::uint32_t node, void* (*function)(void*), void* argument,
                           std::size_t stack_bytes);
// Which barriers there are: kMostProgramBarriers at most, from number 1, of which the first is that
// of join and fork. Every node calls this before the program starts: nodes that lend their memory
// alone have no thread in a team, and come to the barriers by themselves.
inline constexpr std::uint32_t kMostProgramBarriers = 4;
void terrane_program_has_barriers(std::uint32_t count);
// Waits until all threads of a team have come: `threads_here` of this node, at least one of each.
// What any of them wrote before is seen by all.
void terrane_program_barrier(std::uint32_t id, std::uint32_t threads_here);
// A barrier between the parallel regions of a team. Its first thread, main's, joins: it waits until
// all others wait in the fork, and sees what they wrote. When it comes to the fork itself, all go
// on and see what it wrote. It may tell the others something: `bytes`, a multiple of 8, which they
// find in `heard`; where it tells nothing (nullptr) they find there what was there.
void terrane_program_join(std::uint32_t id, std::uint32_t threads_here);
void terrane_program_fork(std::uint32_t id, std::uint32_t threads_here, const void* told,
                          void* heard, std::size_t bytes);
// A lock of the job by an address, which is the same on all nodes. What its holders wrote is seen.
enum terrane_program_locked { kLockTaken, kLockIsOwn, kLockIsBusy };  // own: of the caller already
terrane_program_locked terrane_program_lock(const void* address);
terrane_program_locked terrane_program_try_lock(const void* address);
// False: the calling thread does not hold it.
bool terrane_program_unlock(const void* address);
// Adds to a counter of the job, from 0; the value before. await: until it is at least so large.
// What a thread wrote before it added is seen by a thread that waited for it.
std::int64_t terrane_program_add(std::uint32_t counter, std::int64_t amount);
void terrane_program_await(std::uint32_t counter, std::int64_t at_least);
// What the calling thread wrote before is seen by every thread that calls this afterwards, once
// that call has returned. Gives the processor away, since a thread that waits for a variable calls
// it.
void terrane_program_flush();
// The thread-local variables of the program and its libraries: how many bytes; a copy of those of
// main's thread (node 0 alone); what lies in their place on another node becomes that copy.
std::size_t terrane_program_tls_bytes();
void terrane_program_tls_save(void* copy);
void terrane_program_tls_load(const void* copy);
// Whether they, or what lies in their place on another node, equal that copy.
bool terrane_program_tls_equals(const void* copy);
// How many bytes there are from this address to the end of the thread-local variables of the
// calling thread that it is among; 0: it is no address of such variables.
std::size_t terrane_program_tls_behind(const void* address);
// The end of the calling thread's stack in shared memory, which grows down from there.
const void* terrane_program_stack_end();
// Whether this is an address in shared memory.
bool terrane_program_is_shared(const void* address);
// As a write to the page of an address in shared memory, which changes nothing: where nobody has
// written the page, its home is here from now on. How large pages are.
void terrane_program_touch(const void* address);
std::size_t terrane_program_page_bytes();
// The number of the allocation that holds an address, of which each has another; 0: it is one of
// small blocks, or there is none. On node 0.
std::uint64_t terrane_program_allocation(const void* address);
// Whether the user wants a report: on standard error (--stats), or in the event log of --report.
// Only then the following may be called.
enum terrane_program_report : unsigned {
  kReportsNothing = 0,
  kReportsPrinted = 1,
  kReportsLogged = 2
};
unsigned terrane_program_reports();
// Of --report: main's thread has been in a region so long, until now; and at the end what the
// regions have cost: `counts` as trace::RegionCount.
void terrane_program_log_region(std::uint32_t number, std::uint64_t ns);
void terrane_program_log_region_counts(std::uint32_t number, const char* place, std::uint64_t ns,
                                       const std::uint64_t* counts);
// What the calling thread has done so far, and where asked for the runtime's own threads here too.
struct terrane_program_work {
  std::uint64_t faults, fetched, refreshed, unused, flushed;  // pages
  std::uint64_t flushed_bytes, messages, waited_ns;
};
void terrane_program_work_done(bool with_own_threads, terrane_program_work* work);
// What this node writes from now on is written in that phase. Only phases below 64 are
// distinguished.
void terrane_program_phase(std::uint32_t phase);
// The pages that this node has written in phases, `room` at most: those that went to other nodes
// most often. How many.
struct terrane_program_page {
  std::uint64_t block;   // the same on all nodes
  std::uint64_t phases;  // a bit for each
  std::uint64_t flushes;
};
std::size_t terrane_program_pages_written(terrane_program_page* pages, std::size_t room);
// Names for a report: the source line of an instruction, the variable or allocation of a block.
void terrane_program_name_code(const void* address, char* name, std::size_t bytes);
void terrane_program_name_block(std::uint64_t block, char* name, std::size_t bytes);
// Ends the job with one sentence.
[[noreturn]] void terrane_program_fail(const char* sentence);

}  // extern "C"
