/* Terrane chunks: named pieces of data that change as a whole, shared by the processes ("nodes") of
 * a job, with publication to subscribers.
 *
 * A program calls terrane_chunks_init, creates chunks or finds them by name, and looks at them and
 * changes them in scopes. A scope is a view of the chunk's memory itself: nothing is copied within
 * a host. Each scope that writes makes a new version when it is released; a reader sees one whole
 * version, and never an older one than was seen on its node before. What a chunk keeps to is said
 * when it is created:
 *
 *   TERRANE_CHUNK_INVALIDATE  one writer or any number of readers, everywhere (home-based MESI)
 *   TERRANE_CHUNK_UPDATE      a version is written while others read older ones, and goes to all
 *   TERRANE_CHUNK_STREAM      subscribers; STREAM keeps one version more under way
 *   TERRANE_CHUNK_ONCE        the same, for a chunk that one scope writes, and nobody after it
 *
 * Some nodes are servers: a chunk has its home on one of them, by its name (terrane run --servers),
 * unless its creator names another node (terrane_chunk_create_at).
 * The memory of copies is bounded (--memory): a subscriber that is slow slows its writer or leaves
 * versions out, as its policy says, and nothing grows.
 *
 * Threads: every function but terrane_chunks_init and terrane_chunks_finalize may be called by any
 * thread at any time. A scope may be released by another thread than the one that opened it. A
 * signal handler that has interrupted a call gets TERRANE_ESTATE from every other call.
 *
 * Errors: functions return TERRANE_OK (0) or a negative terrane_status. terrane_chunks_error() then
 * tells what happened, where, and what mends it. Whatever a function that failed was to give is
 * left alone.
 */
#ifndef TERRANE_CHUNKS_H
#define TERRANE_CHUNKS_H

#include <stddef.h>
#include <stdint.h>
#include <terrane/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Joins the job that `terrane run` started, or makes a job of one. Collective; once per process. A
 * process that uses several interfaces is one node; all nodes begin with them in the same order. */
TERRANE_API int terrane_chunks_init(void) TERRANE_NOEXCEPT;
/* Leaves the job. A client goes as soon as the servers have what it wrote, and the others go on; a
 * server serves until all nodes want to leave. No scope may be open, and no other thread may be in
 * a call. A process that also uses pages or OpenSHMEM, and is in them still, leaves the chunks
 * together with all nodes. */
TERRANE_API int terrane_chunks_finalize(void) TERRANE_NOEXCEPT;
/* This process's number, 0 .. terrane_chunks_nodes() - 1; TERRANE_ESTATE outside of a job. */
TERRANE_API int terrane_chunks_node(void) TERRANE_NOEXCEPT;
/* How many nodes the job was started with; TERRANE_ESTATE outside of a job. */
TERRANE_API int terrane_chunks_nodes(void) TERRANE_NOEXCEPT;
/* What the last failed call of this thread had to say; "" if none failed. Valid until the thread's
 * next call. */
TERRANE_API const char* terrane_chunks_error(void) TERRANE_NOEXCEPT;

/* How long a call may wait, in nanoseconds; or one of these. */
#define TERRANE_FOREVER ((int64_t)-1)
#define TERRANE_TRY ((int64_t)0) /* not at all: TERRANE_EBUSY, or TERRANE_EUNKNOWN for a name */

/* A chunk, as terrane_chunk_create and terrane_chunk_find answer it; valid on that node until it
 * leaves the job. Nothing has to be freed. */
typedef struct terrane_chunk {
  uint64_t id;
} terrane_chunk;

typedef enum terrane_chunk_coherence TERRANE_ANY_INT {
  TERRANE_CHUNK_INVALIDATE = 0,
  TERRANE_CHUNK_UPDATE = 1,
  TERRANE_CHUNK_STREAM = 2,
  TERRANE_CHUNK_ONCE = 3
} terrane_chunk_coherence;

/* Makes a chunk of `bytes` (at least 1), which holds zeros; or finds it where it exists with this
 * size and coherence (that it was made with, or keeps to now). `created` may be NULL; else it is
 * set to 1 where it was made now, else to 0. A name is 1 to 255 bytes of any kind but 0.
 * TERRANE_EMISMATCH: it exists, but not so. */
TERRANE_API int terrane_chunk_create(const char* name, size_t bytes,
                                     terrane_chunk_coherence coherence, terrane_chunk* chunk,
                                     int* created) TERRANE_NOEXCEPT;

#define TERRANE_HOME_BY_NAME (-1)             /* on a server, by the name */
#define TERRANE_HOME_AT_FIRST_SUBSCRIBER (-2) /* on the node that subscribes first */

/* The same, with its home at `home`: a node, through which all its versions go, or one of the two
 * above. A version crosses the network once if the home is at its writer or at its only subscriber.
 * What the first creator says holds; where it exists `home` is not compared. A chunk of which no
 * node has subscribed has no home: scopes of it and hints wait until then (TERRANE_EBUSY with
 * TERRANE_TRY, TERRANE_ETIMEDOUT). The home serves until all nodes leave, as servers do.
 * TERRANE_EINVAL: there is no such node (now), or an INVALIDATE chunk is to wait for a subscriber.
 */
TERRANE_API int terrane_chunk_create_at(const char* name, size_t bytes,
                                        terrane_chunk_coherence coherence, int32_t home,
                                        terrane_chunk* chunk, int* created) TERRANE_NOEXCEPT;
/* The node that is its home; -1: it has none, or this node does not know. */
TERRANE_API int terrane_chunk_home(terrane_chunk chunk) TERRANE_NOEXCEPT;
/* Finds a chunk by its name; waits as long until somebody creates it. TERRANE_EUNKNOWN with
 * TERRANE_TRY. */
TERRANE_API int terrane_chunk_find(const char* name, int64_t timeout_ns,
                                   terrane_chunk* chunk) TERRANE_NOEXCEPT;
/* Its size; 0 for a chunk that this node does not know. */
TERRANE_API size_t terrane_chunk_bytes(terrane_chunk chunk) TERRANE_NOEXCEPT;

/* States the type of a chunk's elements: its name ("": the name is not compared), its size, and its
 * alignment (a power of two). The first statement about a chunk holds in the whole job.
 * TERRANE_EMISMATCH: another one was made (the sentence names both types and the node that stated
 * the first). Nothing else depends on the type. May wait for the chunk's server. The C++ interface
 * calls it where it creates and finds a chunk. */
TERRANE_API int terrane_chunk_state_type(terrane_chunk chunk, const char* name, size_t bytes,
                                         size_t alignment) TERRANE_NOEXCEPT;

typedef enum terrane_chunk_mode TERRANE_ANY_INT {
  TERRANE_CHUNK_READ = 1,      /* the view is not to be written to */
  TERRANE_CHUNK_WRITE = 2,     /* all bytes will be written: what the view holds is not defined */
  TERRANE_CHUNK_READ_WRITE = 3 /* the view holds the newest version */
} terrane_chunk_mode;

/* An open scope. `data` is valid until it is released. */
typedef struct terrane_scope {
  void* data;
  size_t bytes;
  uint64_t
      version; /* that a reader looks at, or that a writer's will follow; 0: nobody has written */
  uint64_t missed; /* of a version that was taken: how many were left out before it */
  uint64_t id;     /* of the scope */
  terrane_chunk chunk;
  size_t offset; /* in the chunk, of `data` */
  /* Of a version that was taken: where it differs from the one taken before, as its writers said
   * by terrane_chunk_open_range. */
  size_t changed_offset, changed_bytes;
  size_t size;          /* bytes of this struct that the library fills; set by the library */
  uint64_t reserved[3]; /* room for fields of later versions; 0 */
} terrane_scope;

/* Opens a scope. Scopes of one chunk open in the order in which they were asked for; a thread that
 * asks for a second scope of a chunk may wait for itself. TERRANE_EBUSY, TERRANE_ETIMEDOUT (the
 * sentence names the holder of a scope, and since when), TERRANE_ENOMEM, TERRANE_EUNKNOWN (the
 * chunk died with its server), TERRANE_EWRITTEN (to write what is written once, and has been; the
 * sentence tells by which node). */
TERRANE_API int terrane_chunk_open(terrane_chunk chunk, terrane_chunk_mode mode, int64_t timeout_ns,
                                   terrane_scope* scope) TERRANE_NOEXCEPT;
/* The same for `bytes` bytes from `offset` on, which `data` is. The chunk is taken, fetched and
 * held as a whole all the same; but the writer of a range says that the version differs there
 * alone, and only subscribers to some of it hear of it. The rest stays as it was. TERRANE_EINVAL:
 * no bytes, or not all of them in the chunk. */
TERRANE_API int terrane_chunk_open_range(terrane_chunk chunk, terrane_chunk_mode mode,
                                         size_t offset, size_t bytes, int64_t timeout_ns,
                                         terrane_scope* scope) TERRANE_NOEXCEPT;
/* Makes a version with these bytes at `offset`, in one call: opens a range to write, copies, and
 * releases it; errors as of terrane_chunk_open_range. Subscribers hear of it. `data` stays the
 * caller's. */
TERRANE_API int terrane_chunk_publish(terrane_chunk chunk, size_t offset, size_t bytes,
                                      const void* data, int64_t timeout_ns) TERRANE_NOEXCEPT;
/* Ends a scope that terrane_chunk_open or terrane_chunk_take opened, and sets it to zero. One that
 * wrote makes a version; of an update or stream chunk it is published then. TERRANE_ENOTHELD: it is
 * not open. */
TERRANE_API int terrane_chunk_release(terrane_scope* scope) TERRANE_NOEXCEPT;
/* The chunk keeps to another coherence from now on, on all nodes. Waits until no scope of it is
 * open anywhere (where it is pushed before and after, until nobody writes it). Its bytes and its
 * version stay. Where it becomes INVALIDATE its subscriptions end: takes answer TERRANE_EENDED.
 * What was written when it becomes ONCE is not written any more. TERRANE_ETIMEDOUT: somebody has a
 * scope open (the sentence names the node); the change comes about once it can. TERRANE_ENOMEM,
 * TERRANE_EUNKNOWN as for creating and opening. */
TERRANE_API int terrane_chunk_hint(terrane_chunk chunk, terrane_chunk_coherence coherence,
                                   int64_t timeout_ns) TERRANE_NOEXCEPT;
/* The copy's memory here is wanted for something else; nothing where a scope is open. It comes
 * again when it is looked at. */
TERRANE_API int terrane_chunk_drop(terrane_chunk chunk) TERRANE_NOEXCEPT;

/* What happens where a subscriber is slow. Whatever it is, the last version comes. */
typedef enum terrane_chunk_policy TERRANE_ANY_INT {
  TERRANE_CHUNK_BLOCK = 0,  /* every version comes, in order; the writer waits */
  TERRANE_CHUNK_LATEST = 1, /* versions are left out; the next to come is the newest */
  TERRANE_CHUNK_DROP = 2    /* the same with a window; versions that are left out are counted */
} terrane_chunk_policy;

/* Called in a thread of Terrane with a scope of a version that came, which ends when it returns;
 * one handler at a time on a node, for each subscription in the order of versions. It may call
 * everything but terrane_chunks_finalize, and must not release this scope. While a handler waits in
 * a call, handlers of other subscriptions run; the call returns when they have, or wait themselves.
 * So do not hold a lock of the program that another handler needs, across a call. */
typedef void (*terrane_chunk_handler)(const terrane_scope* scope, void* context);

/* From now on versions of an update or stream chunk come here, the newest that there is first. The
 * memory for `window` (1 to 1024) and one more is taken from the budget, beside that for three
 * scopes of this node. A window of 0 is measured: as many versions as are under way at once, by the
 * delay to the chunk's server and the bandwidth of the network there, at least two, and no more
 * than a quarter of the budget holds. `handler` may be NULL: then versions are taken. One
 * subscription of a chunk on a node. It returns when the chunk's home knows of the subscription, so
 * what other nodes write after that (after a barrier, say) comes as the policy says; if the chunk
 * is changing from INVALIDATE, when all nodes have changed. TERRANE_ENOMEM: it does not fit.
 * TERRANE_EENDED: it was ended before the home had answered. */
TERRANE_API int terrane_chunk_subscribe(terrane_chunk chunk, terrane_chunk_policy policy,
                                        uint32_t window, terrane_chunk_handler handler,
                                        void* context) TERRANE_NOEXCEPT;
/* The same for a range: versions come whose writers said that they changed some of it (a scope of
 * the whole chunk changes all). A version that comes is whole, but the scope shows the range;
 * versions that do not touch it are not sent, and not counted as missed. TERRANE_EINVAL: as of
 * terrane_chunk_open_range. */
TERRANE_API int terrane_chunk_subscribe_range(terrane_chunk chunk, size_t offset, size_t bytes,
                                              terrane_chunk_policy policy, uint32_t window,
                                              terrane_chunk_handler handler,
                                              void* context) TERRANE_NOEXCEPT;
/* No more come, and what came and was not taken is forgotten. Waits for the subscription's handler
 * if that runs, unless it is called by it. */
TERRANE_API int terrane_chunk_unsubscribe(terrane_chunk chunk) TERRANE_NOEXCEPT;
/* Opens a read scope of the next version that came; waits for it. TERRANE_EBUSY, TERRANE_ETIMEDOUT
 * (no version has come); TERRANE_EFULL (the same, and none can come: scopes of this node are open
 * on all versions that its window has room for; the sentence says which to release);
 * TERRANE_EENDED (there is no subscription). */
TERRANE_API int terrane_chunk_take(terrane_chunk chunk, int64_t timeout_ns,
                                   terrane_scope* scope) TERRANE_NOEXCEPT;
/* A descriptor for poll(2) and its kin: readable when a version may have come, until a take finds
 * none. It belongs to the subscription and goes with it; do not read it. Negative: a status. */
TERRANE_API int terrane_chunk_descriptor(terrane_chunk chunk) TERRANE_NOEXCEPT;

/* Chains: large data under one name, cut by size into pieces. Each piece is a chunk like any other,
 * with a home of its own: scopes, subscriptions and memory are those of the piece; nothing holds
 * the chain as a whole. */
typedef struct terrane_chain {
  uint64_t id;
} terrane_chain;

typedef struct terrane_chain_shape {
  uint64_t bytes;     /* of all pieces */
  size_t piece_bytes; /* of each piece; the last may have fewer */
  size_t pieces;
  terrane_chunk_coherence coherence;
} terrane_chain_shape;

/* Makes a chain of `bytes` in pieces of `piece_bytes` with all its pieces, which hold zeros; or
 * finds it where it was made so, and perhaps appended to since. At most 2^20 pieces; a name is 1 to
 * 200 bytes. TERRANE_EMISMATCH: it exists otherwise. TERRANE_ENOMEM: the servers have no room for a
 * piece; there is no chain then, but the pieces that were made keep their room. */
TERRANE_API int terrane_chain_create(const char* name, uint64_t bytes, size_t piece_bytes,
                                     terrane_chunk_coherence coherence, terrane_chain* chain,
                                     int* created) TERRANE_NOEXCEPT;
/* Finds a chain by its name; waits as long until it has been made. TERRANE_EUNKNOWN with
 * TERRANE_TRY. */
TERRANE_API int terrane_chain_find(const char* name, int64_t timeout_ns,
                                   terrane_chain* chain) TERRANE_NOEXCEPT;
/* As terrane_chunk_state_type, for the elements of all pieces. */
TERRANE_API int terrane_chain_state_type(terrane_chain chain, const char* name, size_t bytes,
                                         size_t alignment) TERRANE_NOEXCEPT;
/* Its shape as it is now; it may grow. */
TERRANE_API int terrane_chain_look(terrane_chain chain,
                                   terrane_chain_shape* shape) TERRANE_NOEXCEPT;
/* Piece `index`, 0 .. pieces - 1, of the bytes from index * piece_bytes on. */
TERRANE_API int terrane_chain_piece(terrane_chain chain, size_t index,
                                    terrane_chunk* piece) TERRANE_NOEXCEPT;
/* Makes the chain `bytes` longer by new pieces; `first` may be NULL, else it is set to the first of
 * them. Nodes may append at the same time: each gets pieces of its own. TERRANE_EINVAL: the last
 * piece is not full. */
TERRANE_API int terrane_chain_append(terrane_chain chain, uint64_t bytes,
                                     size_t* first) TERRANE_NOEXCEPT;

/* Locks, barriers and signals: each is known by its name alone (1 to 239 bytes; each kind has its
 * own names), in the whole job, from its first use on.
 *
 * A lock, fair in the order of requests: `lock` is released by terrane_chunk_release. The death of
 * a node releases what it held (--on-death survive). TERRANE_EBUSY, TERRANE_ETIMEDOUT. */
TERRANE_API int terrane_chunk_lock(const char* name, int64_t timeout_ns,
                                   terrane_scope* lock) TERRANE_NOEXCEPT;
/* A barrier or rendezvous: waits until `count` threads have come, on whatever nodes; the next
 * `count` form the next barrier. TERRANE_ETIMEDOUT: not all came; a thread that came counts all the
 * same. TERRANE_EMISMATCH: the barrier is one of another number of threads. */
TERRANE_API int terrane_chunk_barrier(const char* name, uint32_t count,
                                      int64_t timeout_ns) TERRANE_NOEXCEPT;
/* One signal more. `now` may be NULL; else it is set to how many there have been. */
TERRANE_API int terrane_chunk_signal(const char* name, uint64_t* now) TERRANE_NOEXCEPT;
/* Waits until there have been `count` signals. `now` as above. */
TERRANE_API int terrane_chunk_await(const char* name, uint64_t count, int64_t timeout_ns,
                                    uint64_t* now) TERRANE_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* Work streams, members, counters. */
#include <terrane/work.h>
/* Versions in files. */
#include <terrane/recordings.h>

#endif
