#pragma once

#include <search.h>
#include <signal.h>
#include <stdlib.h>

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "frontend/threads/for_teams.h"
#include "frontend/threads/inherited.h"
#include "runtime/node.h"
#include "runtime/program/heap.h"
#include "runtime/program/image.h"
#include "runtime/program/stacks.h"

// What the nodes of a program share beside its own memory: one allocation, the same on all nodes.
// Each part has a lock of the job, by its address.
namespace terrane::frontend::threads {

inline constexpr std::uint32_t kMostThreads = 1024;  // at once, of the whole program
inline constexpr std::uint32_t kMostKeys = 1024;
inline constexpr std::uint32_t kMostNodes = 1024;
inline constexpr std::uint32_t kMostLocales = 4096;  // at once

// One thread of the program: what pthread_t means. The first is main's.
struct alignas(64) Record {
  enum State : std::uint32_t { kFree, kRunning, kEnded };
  State state;
  std::uint32_t node;
  std::uint32_t slot;  // its place in Control::load
  std::uint32_t is_detached : 1;
  std::uint32_t is_cancelled : 1;
  std::uint32_t is_server : 1;        // it makes calls for threads of other nodes (servers.cpp)
  std::uint32_t has_given_stack : 1;  // by pthread_attr_setstack
  std::uint32_t generation : 28;      // counts the threads that had the record, from 1
  void* (*function)(void*);
  void* argument;
  void* result;
  runtime::Stack stack;  // before the thread runs: its size, and where it is a given one, the place
  std::uint64_t closed_signals;  // its mask, from the thread that made it
  Inherited inherited;           // from the thread that made it
  std::uint32_t waits_as;        // 1 + the record that waits for a signal in its place; 0: none
  std::uint64_t signal_sent;     // its address is that of the count of signals that it has sent
  std::uint64_t done;            // its address is that of the count for which pthread_join waits
};

// What one node asks of another.
struct Command {
  enum Kind : std::uint32_t {
    kStart,
    kCancel,
    kExit,
    kQuickExit,
    kLeave,
    kAction,        // the program's action of a signal has changed
    kSignal,        // to node 0: a signal for the process, sent by a thread
    kRelay,         // the same, sent to another node's process from outside
    kThreadSignal,  // a signal for a thread of the node
    kOffer,         // to another node than 0: signals for the process; `value` is their set
    kAccept,        // to node 0: a thread has `signal` open, of which there was an offer
    kAccepted,      // to that thread
    kExecute        // the job's program is to be another one; `value` is the address of a message
  };
  Kind kind;
  std::uint32_t number;          // of the record or the signal, or the exit code
  std::uint32_t generation = 0;  // of the record, whose thread is to be cancelled
  std::int32_t signal = 0;       // for a thread
  std::int32_t code = 0;         // si_code of a signal
  std::uint64_t value = 0;       // si_value of a signal
  std::uint32_t sender = 0;      // 1 + the record that waits until it is sent; 0: none does
};

// The commands for one node: a ring, and the address of its bell.
struct alignas(64) Mail {
  // For each record: that an ended thread was cancelled, a start, that this thread is cancelled,
  // and a signal that it sends; signals from outside, and each node's answer to an offer.
  static constexpr std::uint32_t kRoom = 4 * kMostThreads + 4 * NSIG + kMostNodes;
  std::uint64_t bell;
  std::uint64_t first, count;
  Command ring[kRoom];
};

struct Key {
  std::uint32_t in_use;
  std::uint32_t generation;  // counts its uses, from 1
  void (*destructor)(void*);
};

// The process that the program believes to be: that of node 0. Its actions of signals are those of
// every node.
struct Process {
  pid_t number, parent, group, session;
  std::uint64_t changes;      // its address is that of the lock of the actions
  std::uint64_t has_changed;  // a count: nodes that have a new action
  struct sigaction actions[NSIG];
};

// The state of the C library's generators that have one for the whole program (rand, lrand48 ...).
struct alignas(64) Random {
  std::uint32_t has_begun;
  drand48_data linear;
  random_data plain;
  char words[128];  // of `plain`, as many as the C library has
};

// How many files the program may open (RLIMIT_NOFILE), as on node 0. Other nodes have more, since
// numbers of descriptors are divided between the nodes.
struct FileLimit {
  std::uint64_t now, most;
};

// The file that a node's standard output or error leads to, as its kernel knows it.
struct OutputFile {
  std::uint64_t device, inode;
  std::uint32_t is_own;  // each node is to write there itself (--tag-output)
};

struct Control {
  // Written by each node before the first barrier.
  struct Card {
    runtime::BuildCard build;
    std::uint64_t thread_locals;  // where the first thread has those of the program
    std::uint32_t processors;
    std::uint32_t most_files;  // the largest number of a descriptor that the system allows
    OutputFile outputs[3];     // by number; [0] is not used
  };
  static constexpr std::uint32_t kEachNode = 0;
  std::uint64_t lock;  // its address is that of the lock of all up to the mail
  std::uint32_t live;  // threads that have not ended
  std::uint32_t main_has_exited;
  std::uint32_t has_made_threads;  // the program has had other threads than main
  std::uint64_t all_ended;  // the address of a count: for main, where it has exited before others
  void* for_teams[kProgramRoots];  // terrane_program_root
  std::uint64_t libraries;         // its address is that of the lock of dlopen
  std::uint64_t file_addresses;    // how many are used (file_maps.h); its address is their lock's
  std::uint32_t has_protected;     // a node has taken rights to shared memory away (mprotect)
  std::uint32_t next_record;
  std::uint32_t slots;
  std::uint32_t load[kMostThreads];     // threads in each place
  std::uint32_t node_of[kMostThreads];  // the node of each place
  Record records[kMostThreads];
  Key keys[kMostKeys];
  Card cards[kMostNodes];
  // By number, 1 + the node whose standard output (1) or error (2) is the program's; kEachNode:
  // node 0's, and of each other node that has the same file.
  std::uint32_t output_of[3];
  Random random;
  FileLimit files;
  hsearch_data table_of_hsearch;
  char* rest_of_strtok;
  std::uint64_t locales[kMostLocales / 64];  // bits: which the program has
  Process process;
  // Behind it, for each node: Mail, then runtime::HeapMail.

  static std::uint64_t bytes(std::uint32_t nodes) {
    return sizeof(Control) + nodes * (sizeof(Mail) + sizeof(runtime::HeapMail));
  }
  Mail& mail(std::uint32_t node) { return reinterpret_cast<Mail*>(this + 1)[node]; }
  runtime::HeapMail& heap_mail(std::uint32_t node, std::uint32_t nodes) {
    return reinterpret_cast<runtime::HeapMail*>(&mail(nodes))[node];
  }
};

// A lock of the job by the address of something in shared memory.
LockId lock_of(const void* address);
LockId count_of(const void* address);

// Holds the lock at an address while it lives. Meanwhile the thread sends no output (output.h), and
// no handler of the program runs: it might need the same lock.
class Holding {
 public:
  explicit Holding(const void* address);
  ~Holding();
  Holding(const Holding&) = delete;

 private:
  LockId lock_;
};

}  // namespace terrane::frontend::threads
