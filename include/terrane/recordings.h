/* Recordings: versions of a chunk in a file, and back. A part of <terrane/chunks.h>, which includes
 * this.
 *
 *   to record  terrane_chunk_recording_create, then for each version that was taken
 *              terrane_chunk_recording_append, and terrane_chunk_release
 *   to replay  terrane_chunk_recording_open, then terrane_chunk_recording_next until
 *              TERRANE_EENDED: open a scope to write, terrane_chunk_recording_read, release it
 *
 * The file has the number of each version, its length, its bytes, and when it was recorded; its
 * form is in docs/chunks.md. The calls need no job. A recording is used by one thread at a time.
 * Errors: as of <terrane/chunks.h>; the sentence has the file's name. */
#ifndef TERRANE_RECORDINGS_H
#define TERRANE_RECORDINGS_H

#include <stddef.h>
#include <stdint.h>
#include <terrane/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct terrane_scope;

/* A file that is open to be written or to be read. */
typedef struct terrane_chunk_recording terrane_chunk_recording;

/* Makes the file `path`, or empties it, for versions of at most `bytes` bytes (at least 1).
 * `description`: a text of the program's own of at most 65,536 bytes, such as the type of elements;
 * NULL: "". *recording is to be closed. TERRANE_ESYSTEM: the file cannot be written. */
TERRANE_API int terrane_chunk_recording_create(
    const char* path, size_t bytes, const char* description,
    terrane_chunk_recording** recording) TERRANE_NOEXCEPT;
/* Appends the bytes and the number of the version that the scope shows, with the present time.
 * TERRANE_EINVAL: it has more bytes than the recording's versions. TERRANE_ESYSTEM: it could not be
 * written (a full disk); the file holds the versions before it. TERRANE_ESTATE: it was opened to be
 * read. */
TERRANE_API int terrane_chunk_recording_append(terrane_chunk_recording* recording,
                                               const struct terrane_scope* scope) TERRANE_NOEXCEPT;

typedef struct terrane_chunk_recording_facts {
  size_t bytes;            /* the greatest length of a version */
  uint64_t begin_ns;       /* when it was made, in nanoseconds since 1970 */
  const char* description; /* valid until it is closed */
  size_t size;             /* bytes of this struct that the library fills; set by the library */
  uint64_t reserved[4];    /* room for fields of later versions; 0 */
} terrane_chunk_recording_facts;

/* Opens a file to read its versions, from the first one on. `facts` may be NULL. *recording is to
 * be closed. TERRANE_ESYSTEM: it cannot be read; TERRANE_EMISMATCH: it is no recording, or of a
 * newer form. */
TERRANE_API int terrane_chunk_recording_open(const char* path, terrane_chunk_recording** recording,
                                             terrane_chunk_recording_facts* facts) TERRANE_NOEXCEPT;

typedef struct terrane_recorded_version {
  uint64_t version; /* its number */
  uint64_t time_ns; /* when it was recorded: since begin_ns, by a clock that is never set */
  size_t bytes;     /* its length */
  size_t size;      /* bytes of this struct that the library fills; set by the library */
  uint64_t reserved[4];
} terrane_recorded_version;

/* Goes to the next version. TERRANE_EENDED: there is none. TERRANE_EMISMATCH: the file was cut
 * short, or damaged; the sentence says at which version. A later call looks again, since the file
 * may be written still. */
TERRANE_API int terrane_chunk_recording_next(terrane_chunk_recording* recording,
                                             terrane_recorded_version* version) TERRANE_NOEXCEPT;
/* Copies the bytes of the version that terrane_chunk_recording_next has given to `data`.
 * TERRANE_EINVAL: `bytes`, the room there, is less than its length. TERRANE_ESTATE: it has given
 * none. */
TERRANE_API int terrane_chunk_recording_read(terrane_chunk_recording* recording, void* data,
                                             size_t bytes) TERRANE_NOEXCEPT;
/* Closes the file and frees what the recording needed; NULL is allowed. */
TERRANE_API int terrane_chunk_recording_close(terrane_chunk_recording* recording) TERRANE_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
