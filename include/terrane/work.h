/* Terrane work streams, members and counters: a part of <terrane/chunks.h>, which includes this.
 *
 * A work stream carries versions from any number of writing nodes to any number of subscribers.
 * Exactly one subscriber takes each version. A version has any length up to the size of the stream
 * and a 64-bit tag. What a dead subscriber had goes to another one.
 *
 *   writer      terrane_work_write, fill `data`, terrane_work_publish(version, bytes, tag)
 *   subscriber  terrane_work_subscribe, terrane_work_take, use `data`, terrane_work_release
 *   any node    terrane_work_end: no more versions are written
 *
 * A version is *done* when its subscriber has released it, and when everything is done that the
 * thread that took it published to other work streams before. So a worker thread that takes a
 * frame, publishes the result and then releases the frame never loses it: until the result is done
 * at the end of the pipeline, the death of the worker gives the frame to another worker. Each
 * version is processed at least once; after a death some are processed twice, with the same tag. A
 * stream with `in_order` leaves out the second one.
 *
 * Errors, threads: as of <terrane/chunks.h>. terrane_chunks_error() has the sentence. */
#ifndef TERRANE_WORK_H
#define TERRANE_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <terrane/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A work stream, as terrane_work_create and terrane_work_find answer it; valid on that node until
 * it leaves the job. Nothing has to be freed. */
typedef struct terrane_work {
  uint64_t id;
} terrane_work;

typedef struct terrane_work_options {
  size_t size; /* sizeof(terrane_work_options) */
  /* The node through which the versions go, or TERRANE_HOME_BY_NAME (on a server, by the name of
   * the stream), or TERRANE_HOME_AT_FIRST_SUBSCRIBER (on the node that subscribes first). A version
   * crosses the network once if the home is at the writer (the input of a pipeline) or at the
   * subscriber (its output). The stream dies with this node. */
  int32_t home;
  /* 1: tags count 0, 1, 2, ..., and versions are taken in the order of their tags, each tag once,
   * whatever the order in which they are written. The capacity must hold the versions that are
   * written before their turn: make it at least the capacity of the stream that feeds the
   * workers and one version more. 0: in the order of their arrival. */
  uint32_t in_order;
  /* Bytes of versions of each writing node that may be written and not done; the home reserves
   * them. 0: four versions of full length. Less than one version: TERRANE_EINVAL. */
  uint64_t capacity;
} terrane_work_options;

/* Makes a work stream of versions of at most `bytes` bytes (at least 1), or finds it where it
 * exists with the same size and options. `options` may be NULL: home by name, in the order of
 * arrival, capacity 0. `created` may be NULL; else it is set to 1 where the stream was made now,
 * else to 0. A name is 1 to 255 bytes; chunks and work streams share their names.
 * TERRANE_EMISMATCH: it exists, but not so. TERRANE_EINVAL: there is no such home. */
TERRANE_API int terrane_work_create(const char* name, size_t bytes,
                                    const terrane_work_options* options, terrane_work* work,
                                    int* created) TERRANE_NOEXCEPT;
/* Finds a work stream by its name; waits until a node creates it. TERRANE_EUNKNOWN with
 * TERRANE_TRY. TERRANE_EMISMATCH: a chunk has this name. */
TERRANE_API int terrane_work_find(const char* name, int64_t timeout_ns,
                                  terrane_work* work) TERRANE_NOEXCEPT;
/* The greatest length of its versions; 0 for a stream that this node does not know. */
TERRANE_API size_t terrane_work_bytes(terrane_work work) TERRANE_NOEXCEPT;
/* The node that is its home; -1: not decided, or this node has not heard of it yet
 * (TERRANE_HOME_AT_FIRST_SUBSCRIBER: it hears of it when it writes, subscribes or ends). */
TERRANE_API int terrane_work_home(terrane_work work) TERRANE_NOEXCEPT;

/* A version that this node writes or has taken. `data` is valid until it is published or
 * released. A node may hold any number of them. */
typedef struct terrane_work_version {
  void* data;
  size_t bytes;    /* its length; of one that is being written the greatest that it may have */
  uint64_t tag;    /* that its writer gave it */
  uint64_t number; /* of the version in its stream, from 1 on; 0 while it is being written */
  uint32_t again;  /* 1: a subscriber that died or left had it before */
  uint32_t writer; /* the node that wrote it */
  uint64_t id;
  terrane_work work;
  size_t size; /* bytes of this struct that the library fills; set by the library */
  uint64_t reserved[3];
} terrane_work_version;

/* Opens a version to be written: `data` has terrane_work_bytes() bytes, undefined at first. Waits
 * until the capacity of this node has room for one of full length. TERRANE_EBUSY,
 * TERRANE_ETIMEDOUT, TERRANE_ENOMEM (its home has no room for the capacity, or this node none for
 * the version), TERRANE_EENDED (a node has ended the stream), TERRANE_EDIED (the last subscriber
 * has died, and no other one has come; the sentence names its node and host), TERRANE_EUNKNOWN
 * (the stream died with its home). */
TERRANE_API int terrane_work_write(terrane_work work, int64_t timeout_ns,
                                   terrane_work_version* version) TERRANE_NOEXCEPT;
/* Makes the open version one of `bytes` bytes (0 is allowed) with this tag, and sets *version to
 * zero. It does not wait. TERRANE_EINVAL: more bytes than the stream has; the version stays open.
 * TERRANE_ENOTHELD: it is not one that is being written. TERRANE_EENDED: a node ended the stream
 * while the version was open, which is given up. TERRANE_EUNKNOWN: the stream died with its home.
 */
TERRANE_API int terrane_work_publish(terrane_work_version* version, size_t bytes,
                                     uint64_t tag) TERRANE_NOEXCEPT;
/* From now on this node takes versions. `credit_bytes` is how many bytes of versions it may have
 * at once, from the moment they are sent to it until they are released: at least one version of
 * full length, at most the budget for copies (two full versions keep a worker busy). One
 * subscription of a stream on a node; an in-order stream has one in the job. TERRANE_EINVAL:
 * credits of 0, below one version, or above the budget. TERRANE_ENOMEM: they do not fit what is
 * left of the budget. TERRANE_EENDED: the stream has ended. TERRANE_ESTATE: this node has
 * subscribed already, or another node to an in-order stream. */
TERRANE_API int terrane_work_subscribe(terrane_work work, uint64_t credit_bytes) TERRANE_NOEXCEPT;
/* Versions that this node was sent and has not taken go to other subscribers. Those that are open
 * stay open until they are released. */
TERRANE_API int terrane_work_unsubscribe(terrane_work work) TERRANE_NOEXCEPT;
/* Takes the next version. TERRANE_EBUSY, TERRANE_ETIMEDOUT; TERRANE_EENDED: the stream was ended
 * and all its versions are done, wherever they were taken (or this node has not subscribed);
 * TERRANE_EUNKNOWN: the stream died with its home. */
TERRANE_API int terrane_work_take(terrane_work work, int64_t timeout_ns,
                                  terrane_work_version* version) TERRANE_NOEXCEPT;
/* Ends a version that was taken, which returns its bytes as credit; gives up one that is being
 * written. Sets *version to zero. Publish what was made from a version before this call. */
TERRANE_API int terrane_work_release(terrane_work_version* version) TERRANE_NOEXCEPT;
/* No more versions are written to this stream, by any node: terrane_work_write returns
 * TERRANE_EENDED. Versions that were published before are still taken. A second end is none.
 * Returns when the home knows it. */
TERRANE_API int terrane_work_end(terrane_work work) TERRANE_NOEXCEPT;
/* Descriptors for poll(2) and its kin; do not read them. Both become readable, the first when a
 * take may succeed or the stream has ended, until a take finds nothing; the second when a write may
 * succeed, until a write finds no room. A thread that polls the second ones of several streams
 * learns which of them can be written. They live as long as this node is in the job. Negative: a
 * status. */
TERRANE_API int terrane_work_descriptor(terrane_work work) TERRANE_NOEXCEPT;
TERRANE_API int terrane_work_writable_descriptor(terrane_work work) TERRANE_NOEXCEPT;

/* ---- Members: which nodes come and go.
 *
 * Every node hears of all changes in the same order, from the moment at which it joined. Deaths are
 * heard of only with `terrane run --on-death survive`; without it a death ends the job. */
typedef enum terrane_member_event TERRANE_ANY_INT {
  TERRANE_MEMBER_JOINED = 1,
  TERRANE_MEMBER_LEFT = 2,
  TERRANE_MEMBER_DIED = 3
} terrane_member_event;

typedef struct terrane_member_change {
  size_t size; /* of this struct, set by the library */
  int32_t node;
  terrane_member_event event;
  char host[256];
} terrane_member_change;

/* The next change that this process has not been given; waits for it. TERRANE_EBUSY with
 * TERRANE_TRY, TERRANE_ETIMEDOUT. */
TERRANE_API int terrane_chunks_member(int64_t timeout_ns,
                                      terrane_member_change* change) TERRANE_NOEXCEPT;
/* Readable while there is a change that terrane_chunks_member has not given. Do not read it. */
TERRANE_API int terrane_chunks_members_descriptor(void) TERRANE_NOEXCEPT;

/* ---- Counters of this node since terrane_chunks_init; times are summed over its threads. */
typedef struct terrane_chunk_counters {
  uint64_t messages_sent; /* to other nodes, of all kinds of chunks */
  uint64_t messages_received;
  uint64_t data_bytes_sent; /* of versions, over a connection: one transfer of them */
  uint64_t data_bytes_received;
  uint64_t shared_bytes_sent; /* of versions, in memory that both nodes of a host reach */
  uint64_t versions_written;  /* of work streams, as all below */
  uint64_t versions_taken;
  uint64_t versions_again; /* of those taken: a subscriber that died or left had them before */
  uint64_t waits;          /* calls on chunks and work streams that did not return at once */
  uint64_t wait_ns;        /* in them */
} terrane_chunk_counters;  /* later versions add fields at the end */
/* Fills the first `bytes` bytes of `out`, which are sizeof(terrane_chunk_counters) as the caller
 * was compiled. */
TERRANE_API int terrane_chunks_counters_sized(terrane_chunk_counters* out,
                                              size_t bytes) TERRANE_NOEXCEPT;
static inline int terrane_chunks_counters(terrane_chunk_counters* out) TERRANE_NOEXCEPT {
  return terrane_chunks_counters_sized(out, sizeof *out);
}

#ifdef __cplusplus
}
#endif
#endif
