/* Terrane pages: one memory for the processes ("nodes") of a job.
 *
 * A program calls terrane_init, allocates shared memory, and reads and writes it by plain loads and
 * stores. What one thread wrote before it released a lock or entered a barrier is seen by every
 * thread that acquires that lock or leaves that barrier afterwards (release consistency; programs
 * without data races see sequential consistency). Bytes are the unit: two nodes may write adjacent
 * bytes at once. Hardware atomics on shared memory mean nothing between nodes, but in allocations
 * that ask for sequential consistency (TERRANE_PROTOCOL_SC); terrane_atomic_fetch and its kin serve
 * the others. Mutexes, condition variables, barriers, read-write locks and semaphores of the C
 * library that lie in shared memory work between nodes (docs/pages.md says which).
 *
 * Threads: every function but terrane_init and terrane_finalize may be called by any thread at any
 * time, at once.
 *
 * Errors: functions return TERRANE_OK (0) or a negative terrane_status; those that return a pointer
 * return NULL. terrane_error() then tells what happened, where, and what mends it.
 */
#ifndef TERRANE_PAGES_H
#define TERRANE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <terrane/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which protocol keeps the pages of an allocation coherent. */
typedef enum terrane_protocol TERRANE_ANY_INT {
  TERRANE_PROTOCOL_HLRC = 0, /* home-based lazy release consistency (default) */
  TERRANE_PROTOCOL_ERC = 1,  /* eager release consistency: when a release ends no copy of what it
                                changed is left to be read */
  TERRANE_PROTOCOL_SC = 2    /* sequential consistency: one writer or many readers of a page. Flags,
                                atomics and races work as between threads of one machine; locks and
                                barriers order nothing here */
} terrane_protocol;

/* Where the pages of an allocation have their home, the node that keeps the current copy. */
typedef enum terrane_homes TERRANE_ANY_INT {
  TERRANE_HOMES_FIRST_TOUCH = 0,  /* the first node that writes the page (default); it moves to a
                                     node that alone goes on writing it, or that writes or reads
                                     in order what another has filled */
  TERRANE_HOMES_BLOCK = 1,        /* equal contiguous parts, in the order of the nodes */
  TERRANE_HOMES_CYCLIC = 2,       /* page after page around the nodes */
  TERRANE_HOMES_EXPLICIT = 3,     /* all on the node named in `home` */
  TERRANE_HOMES_BLOCK_CYCLIC = 4, /* `block_pages` pages after so many around the nodes */
  TERRANE_HOMES_CLUSTER = 5       /* equal contiguous parts on the nodes of cluster `cluster` */
} terrane_homes;

/* What becomes of a node's copy of a page that others have changed. */
typedef enum terrane_propagation TERRANE_ANY_INT {
  TERRANE_ADAPTIVE = 0,   /* by what the node did before: pages that it comes back to again and
                             again are brought up to date, others dropped (default) */
  TERRANE_INVALIDATE = 1, /* it is dropped, and comes again when it is touched */
  TERRANE_UPDATE = 2      /* it is updated in its place */
} terrane_propagation;

typedef struct terrane_alloc_options {
  terrane_homes homes;
  uint32_t home;    /* TERRANE_HOMES_EXPLICIT: the node */
  const char* name; /* for messages and reports; copied, at most 31 bytes; may be NULL */
  terrane_protocol protocol;
  terrane_propagation propagation;
  uint32_t block_pages; /* TERRANE_HOMES_BLOCK_CYCLIC: from 1 */
  uint32_t size;     /* sizeof(terrane_alloc_options), or 0: the fields up to here. Later versions
                        add fields behind it and take the fields that a program does not have as 0 */
  uint32_t cluster;  /* TERRANE_HOMES_CLUSTER: from 0 */
  uint32_t reserved; /* 0 */
} terrane_alloc_options;

/* Joins the job that `terrane run` started, or makes a job of one. Collective; once per process. A
 * process that uses several interfaces is one node; all nodes begin with them in the same order. */
TERRANE_API int terrane_init(void) TERRANE_NOEXCEPT;
/* Leaves the job. Collective: it waits for all nodes. Shared memory must not be used afterwards. */
TERRANE_API int terrane_finalize(void) TERRANE_NOEXCEPT;

/* This process's number, 0 .. terrane_nodes() - 1; TERRANE_ESTATE before terrane_init. */
TERRANE_API int terrane_node(void) TERRANE_NOEXCEPT;
/* How many nodes the job has; TERRANE_ESTATE before terrane_init. */
TERRANE_API int terrane_nodes(void) TERRANE_NOEXCEPT;

/* Nodes that reach each other by a fast network form a cluster (docs/clusters.md): how many
 * clusters the job has (1 where it was started without any), the cluster of this process, and the
 * one of a node; 0 .. terrane_clusters() - 1. TERRANE_ESTATE before terrane_init; TERRANE_EINVAL:
 * there is no such node. */
TERRANE_API int terrane_clusters(void) TERRANE_NOEXCEPT;
TERRANE_API int terrane_cluster(void) TERRANE_NOEXCEPT;
TERRANE_API int terrane_cluster_of(int node) TERRANE_NOEXCEPT;

/* Allocates `bytes` of zeroed shared memory at an address that is the same on every node. Not
 * collective: the caller hands the pointer on through shared memory. `options` may be NULL (all
 * defaults). The memory is page-aligned. NULL: refused, terrane_error() says why; as for what the
 * nodes' memories together could not hold. */
TERRANE_API void* terrane_alloc(size_t bytes,
                                const terrane_alloc_options* options) TERRANE_NOEXCEPT;
/* The same for all nodes at once: every node makes the same sequence of calls with the same
 * arguments and gets the same pointer. Does not synchronise. */
TERRANE_API void* terrane_alloc_all(size_t bytes,
                                    const terrane_alloc_options* options) TERRANE_NOEXCEPT;
/* Frees an allocation, by one node, when no node uses it any more. `address` is what the allocation
 * returned. */
TERRANE_API int terrane_free(void* address) TERRANE_NOEXCEPT;

/* A job-wide mutual-exclusion lock, fair in the order of requests; any 32-bit number names one. Not
 * recursive. The thread that locked it must unlock it. */
TERRANE_API int terrane_lock(uint32_t lock) TERRANE_NOEXCEPT;
TERRANE_API int terrane_unlock(uint32_t lock) TERRANE_NOEXCEPT;
/* Waits at most so long, in nanoseconds; 0: not at all. TERRANE_ETIMEDOUT: the lock is another
 * thread's. The thread asks again and again, at growing intervals: terrane_lock, which queues, may
 * be served first. */
TERRANE_API int terrane_lock_for(uint32_t lock, uint64_t timeout_ns) TERRANE_NOEXCEPT;

/* All nodes wait for each other, one thread of each. */
TERRANE_API int terrane_barrier(void) TERRANE_NOEXCEPT;
/* The same for several threads a node: `threads_here` (>= 1) threads of this node take part; nodes
 * may differ. Any 32-bit number names a barrier; terrane_barrier() is barrier 0 with one thread. */
TERRANE_API int terrane_barrier_threads(uint32_t barrier, uint32_t threads_here) TERRANE_NOEXCEPT;

typedef enum terrane_reduce_op TERRANE_ANY_INT {
  TERRANE_SUM = 1, /* integers wrap around */
  TERRANE_MIN = 2,
  TERRANE_MAX = 3,
  TERRANE_AND = 4, /* this and the next two: of bits, not of doubles */
  TERRANE_OR = 5,
  TERRANE_XOR = 6
} terrane_reduce_op;
typedef enum terrane_type TERRANE_ANY_INT {
  TERRANE_INT64 = 0,
  TERRANE_UINT64 = 1,
  TERRANE_DOUBLE = 2
} terrane_type;
/* A barrier to which each thread gives `count` values (1 to 1024) and from which each gets those
 * of all, combined element by element, in `out`, which may be `in`. All give the same kind. Sums
 * of doubles are rounded in the order in which threads come. */
TERRANE_API int terrane_barrier_reduce(uint32_t barrier, uint32_t threads_here,
                                       terrane_reduce_op op, terrane_type type, const void* in,
                                       void* out, size_t count) TERRANE_NOEXCEPT;

/* Counters, flags, semaphores and conditions, each kind with 32-bit numbers of its own; all of them
 * begin at zero, need no creation, and serve any thread of any node. What was written before a
 * change is seen by the threads that waited for that change (for a condition: under its lock). */

typedef enum terrane_counter_op TERRANE_ANY_INT {
  TERRANE_COUNTER_ADD = 0, /* wraps around */
  TERRANE_COUNTER_SET = 1,
  TERRANE_COUNTER_AND = 2,
  TERRANE_COUNTER_OR = 3,
  TERRANE_COUNTER_XOR = 4,
  TERRANE_COUNTER_MIN = 5,
  TERRANE_COUNTER_MAX = 6
} terrane_counter_op;
/* Changes a counter as one step; what it was goes to `before`, unless that is NULL. */
TERRANE_API int terrane_counter_fetch(uint32_t counter, terrane_counter_op op, int64_t operand,
                                      int64_t* before) TERRANE_NOEXCEPT;
/* Waits until the counter has been `at_least` that. */
TERRANE_API int terrane_counter_wait(uint32_t counter, int64_t at_least) TERRANE_NOEXCEPT;
/* The same for at most `timeout_ns` nanoseconds, then TERRANE_ETIMEDOUT. The thread asks again and
 * again, at growing intervals, for what the counter is then: a short peak may pass unseen. */
TERRANE_API int terrane_counter_wait_for(uint32_t counter, int64_t at_least,
                                         uint64_t timeout_ns) TERRANE_NOEXCEPT;

/* A flag stays set until it is cleared; all threads that wait for it go on. */
TERRANE_API int terrane_flag_set(uint32_t flag) TERRANE_NOEXCEPT;
TERRANE_API int terrane_flag_clear(uint32_t flag) TERRANE_NOEXCEPT;
TERRANE_API int terrane_flag_wait(uint32_t flag) TERRANE_NOEXCEPT;
/* As terrane_counter_wait_for. */
TERRANE_API int terrane_flag_wait_for(uint32_t flag, uint64_t timeout_ns) TERRANE_NOEXCEPT;

/* Adds units to a semaphore; each lets one waiter go on, in the order in which they came. */
TERRANE_API int terrane_semaphore_post(uint32_t semaphore, uint32_t units) TERRANE_NOEXCEPT;
TERRANE_API int terrane_semaphore_wait(uint32_t semaphore) TERRANE_NOEXCEPT;
/* Waits in the queue for at most `timeout_ns` nanoseconds, then TERRANE_ETIMEDOUT. */
TERRANE_API int terrane_semaphore_wait_for(uint32_t semaphore,
                                           uint64_t timeout_ns) TERRANE_NOEXCEPT;
/* Takes a unit if there is one; else TERRANE_EBUSY. */
TERRANE_API int terrane_semaphore_try(uint32_t semaphore) TERRANE_NOEXCEPT;

/* Gives `lock`, which this thread holds, back, waits for a signal that comes after that, and takes
 * the lock again. No wait ends without a signal; yet look at what you wait for again, since others
 * may have had the lock in between. */
TERRANE_API int terrane_condition_wait(uint32_t condition, uint32_t lock) TERRANE_NOEXCEPT;
/* Lets one waiter go on, the one that came first, or all of them; none: nothing happens. */
TERRANE_API int terrane_condition_signal(uint32_t condition) TERRANE_NOEXCEPT;
TERRANE_API int terrane_condition_broadcast(uint32_t condition) TERRANE_NOEXCEPT;

/* Atomic operations on words of shared memory, aligned, of 4 or 8 bytes, in regions of any
 * protocol. All of them on one word, by any threads of any nodes, happen one after the other; each
 * is done in the memory of the page's home, so it costs a message where that is on another host. A
 * thread's own plain stores to the word come before, and its plain loads do not go back behind it.
 * For other threads' plain loads, and for other data, they order nothing: use locks, barriers,
 * flags and counters for that (or a region of TERRANE_PROTOCOL_SC, in which the machine's own
 * atomics work).
 */
typedef enum terrane_atomic_op TERRANE_ANY_INT {
  TERRANE_ATOMIC_EXCHANGE = 0,
  TERRANE_ATOMIC_ADD = 1, /* wraps around */
  TERRANE_ATOMIC_AND = 2,
  TERRANE_ATOMIC_OR = 3,
  TERRANE_ATOMIC_XOR = 4
} terrane_atomic_op;
TERRANE_API int terrane_atomic_load(const void* address, size_t bytes,
                                    uint64_t* value) TERRANE_NOEXCEPT;
TERRANE_API int terrane_atomic_store(void* address, size_t bytes, uint64_t value) TERRANE_NOEXCEPT;
/* What the word was goes to `before`, unless that is NULL. */
TERRANE_API int terrane_atomic_fetch(void* address, size_t bytes, terrane_atomic_op op,
                                     uint64_t operand, uint64_t* before) TERRANE_NOEXCEPT;
/* Stores `desired` if the word is *expected; else TERRANE_EBUSY. What it was goes to *expected. */
TERRANE_API int terrane_atomic_compare_exchange(void* address, size_t bytes, uint64_t* expected,
                                                uint64_t desired) TERRANE_NOEXCEPT;

#define TERRANE_READ 1
#define TERRANE_WRITE 2
/* Makes [address, address + bytes) present here: to fetch it before it is needed, or for a system
 * call that libterrane does not serve (docs/design/faults.md) and that would fail with
 * EFAULT on shared memory that is not present. It may go again when a thread of this node acquires.
 * `access`: TERRANE_READ, TERRANE_WRITE, or both. */
TERRANE_API int terrane_touch(const void* address, size_t bytes, int access) TERRANE_NOEXCEPT;
/* Gives back the memory of copies that this node keeps of other nodes' pages in the range, whatever
 * their protocol; nothing is lost. Pages that another thread is just fetching may stay. */
TERRANE_API int terrane_evict(const void* address, size_t bytes) TERRANE_NOEXCEPT;

/* Counters of this node since terrane_init; times are summed over its threads (ViSMI, section 5:
 * the breakdown). */
typedef struct terrane_counters {
  uint64_t pages_fetched;     /* pages copied from another node's home */
  uint64_t read_faults;       /* faults for reading */
  uint64_t write_faults;      /* faults for writing */
  uint64_t pages_flushed;     /* pages whose changes went to another node's home */
  uint64_t bytes_flushed;     /* changed bytes in them; as encoded where they go by messages */
  uint64_t notices;           /* pages named in this node's write notices */
  uint64_t pages_invalidated; /* copies dropped at an acquire */
  uint64_t pages_evicted;     /* copies dropped for want of memory, or by terrane_evict */
  uint64_t lock_acquires;
  uint64_t barriers;
  uint64_t messages_sent;
  uint64_t message_bytes_sent;
  uint64_t fetch_ns;    /* faults that brought pages from other nodes */
  uint64_t lock_ns;     /* waiting for locks */
  uint64_t barrier_ns;  /* waiting in barriers */
  uint64_t handler_ns;  /* serving other nodes */
  uint64_t overhead_ns; /* other protocol work: twins, diffs, notices, invalidation, other faults */
  uint64_t elapsed_ns;  /* since terrane_init */
} terrane_counters;     /* later versions add fields at the end */
/* Fills the first `bytes` bytes of `out`, which are sizeof(terrane_counters) as the caller was
 * compiled; fields of later versions are set to 0. TERRANE_EINVAL: fewer bytes than the first
 * version's. */
TERRANE_API int terrane_read_counters_sized(terrane_counters* out, size_t bytes) TERRANE_NOEXCEPT;
static inline int terrane_read_counters(terrane_counters* out) TERRANE_NOEXCEPT {
  return terrane_read_counters_sized(out, sizeof *out);
}

/* What the last failed call of this thread had to say; "" if none failed. Valid until the thread's
 * next call. */
TERRANE_API const char* terrane_error(void) TERRANE_NOEXCEPT;
/* "0.1.0" */
TERRANE_API const char* terrane_version(void) TERRANE_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
