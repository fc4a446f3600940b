/* The types of OpenSHMEM 1.6 and which operations take them. Each list calls X(D, NAME, TYPE) for
 * each of its types; D is handed on (see functions.h). The specification's tables: "Standard RMA
 * Types and Names", "Standard, Extended and Bitwise AMO Types", "Point-to-Point Synchronization
 * Types", "Reduction Types". */
#ifndef TERRANE_SHMEM_TYPES_H
#define TERRANE_SHMEM_TYPES_H

/* Building stones */
#define TERRANE_SHMEM_REALS(X, D) X(D, float, float) X(D, double, double)
#define TERRANE_SHMEM_COMPLEXES(X, D) \
  X(D, complexf, terrane_shmem_complexf) X(D, complexd, terrane_shmem_complexd)
#define TERRANE_SHMEM_WORDS(X, D) X(D, int, int) X(D, long, long) X(D, longlong, long long)
#define TERRANE_SHMEM_UNSIGNED_WORDS(X, D) \
  X(D, uint, unsigned int) X(D, ulong, unsigned long) X(D, ulonglong, unsigned long long)
#define TERRANE_SHMEM_SMALL(X, D) X(D, char, char) X(D, schar, signed char) X(D, short, short)
#define TERRANE_SHMEM_UNSIGNED_SMALL(X, D) X(D, uchar, unsigned char) X(D, ushort, unsigned short)
#define TERRANE_SHMEM_EXACT_WORDS(X, D) \
  X(D, int32, int32_t) X(D, int64, int64_t) X(D, uint32, uint32_t) X(D, uint64, uint64_t)
#define TERRANE_SHMEM_EXACT_SMALL(X, D) \
  X(D, int8, int8_t) X(D, int16, int16_t) X(D, uint8, uint8_t) X(D, uint16, uint16_t)

/* The tables of the specification */
#define TERRANE_SHMEM_STANDARD_AMO_TYPES(X, D) \
  TERRANE_SHMEM_WORDS(X, D)                    \
  TERRANE_SHMEM_UNSIGNED_WORDS(X, D)           \
  TERRANE_SHMEM_EXACT_WORDS(X, D)              \
  X(D, size, size_t) X(D, ptrdiff, ptrdiff_t)
#define TERRANE_SHMEM_EXTENDED_AMO_TYPES(X, D) \
  TERRANE_SHMEM_REALS(X, D) TERRANE_SHMEM_STANDARD_AMO_TYPES(X, D)
#define TERRANE_SHMEM_BITWISE_AMO_TYPES(X, D) \
  TERRANE_SHMEM_UNSIGNED_WORDS(X, D) TERRANE_SHMEM_EXACT_WORDS(X, D)
#define TERRANE_SHMEM_RMA_TYPES(X, D)    \
  TERRANE_SHMEM_EXTENDED_AMO_TYPES(X, D) \
  X(D, longdouble, long double)          \
  TERRANE_SHMEM_SMALL(X, D)              \
  TERRANE_SHMEM_UNSIGNED_SMALL(X, D)     \
  TERRANE_SHMEM_EXACT_SMALL(X, D)
#define TERRANE_SHMEM_AND_TYPES(X, D) \
  TERRANE_SHMEM_UNSIGNED_SMALL(X, D)  \
  TERRANE_SHMEM_UNSIGNED_WORDS(X, D)  \
  TERRANE_SHMEM_EXACT_SMALL(X, D)     \
  TERRANE_SHMEM_EXACT_WORDS(X, D)     \
  X(D, size, size_t)
#define TERRANE_SHMEM_MAX_TYPES(X, D) TERRANE_SHMEM_RMA_TYPES(X, D)
#define TERRANE_SHMEM_SUM_TYPES(X, D) TERRANE_SHMEM_RMA_TYPES(X, D) TERRANE_SHMEM_COMPLEXES(X, D)

/* Deprecated interfaces */
#define TERRANE_SHMEM_OLD_AMO_TYPES(X, D) TERRANE_SHMEM_WORDS(X, D)
#define TERRANE_SHMEM_OLD_EXTENDED_AMO_TYPES(X, D) \
  TERRANE_SHMEM_WORDS(X, D) TERRANE_SHMEM_REALS(X, D)
#define TERRANE_SHMEM_OLD_WAIT_TYPES(X, D) X(D, short, short) TERRANE_SHMEM_WORDS(X, D)
#define TERRANE_SHMEM_SHORT_SYNC_TYPES(X, D) X(D, short, short) X(D, ushort, unsigned short)
#define TERRANE_SHMEM_TO_ALL_AND_TYPES(X, D) X(D, short, short) TERRANE_SHMEM_WORDS(X, D)
#define TERRANE_SHMEM_TO_ALL_MAX_TYPES(X, D) \
  TERRANE_SHMEM_TO_ALL_AND_TYPES(X, D) TERRANE_SHMEM_REALS(X, D) X(D, longdouble, long double)
#define TERRANE_SHMEM_TO_ALL_SUM_TYPES(X, D) \
  TERRANE_SHMEM_TO_ALL_MAX_TYPES(X, D) TERRANE_SHMEM_COMPLEXES(X, D)

/* Types of which no two are the same, for generic calls: the exact-width ones have other names. */
#define TERRANE_SHMEM_GENERIC_AMO_TYPES(X, D) \
  TERRANE_SHMEM_WORDS(X, D) TERRANE_SHMEM_UNSIGNED_WORDS(X, D)
#define TERRANE_SHMEM_GENERIC_EXTENDED_TYPES(X, D) \
  TERRANE_SHMEM_REALS(X, D) TERRANE_SHMEM_GENERIC_AMO_TYPES(X, D)
#define TERRANE_SHMEM_GENERIC_BITWISE_TYPES(X, D) \
  TERRANE_SHMEM_UNSIGNED_WORDS(X, D) X(D, int32, int32_t) X(D, int64, int64_t)
#define TERRANE_SHMEM_GENERIC_RMA_TYPES(X, D) \
  TERRANE_SHMEM_GENERIC_EXTENDED_TYPES(X, D)  \
  X(D, longdouble, long double) TERRANE_SHMEM_SMALL(X, D) TERRANE_SHMEM_UNSIGNED_SMALL(X, D)
#define TERRANE_SHMEM_GENERIC_AND_TYPES(X, D) \
  TERRANE_SHMEM_GENERIC_BITWISE_TYPES(X, D)   \
  TERRANE_SHMEM_UNSIGNED_SMALL(X, D) X(D, int8, int8_t) X(D, int16, int16_t)
#define TERRANE_SHMEM_GENERIC_SUM_TYPES(X, D) \
  TERRANE_SHMEM_GENERIC_RMA_TYPES(X, D) TERRANE_SHMEM_COMPLEXES(X, D)
#define TERRANE_SHMEM_GENERIC_OLD_AMO_TYPES(X, D) TERRANE_SHMEM_OLD_AMO_TYPES(X, D)
#define TERRANE_SHMEM_GENERIC_OLD_EXTENDED_TYPES(X, D) TERRANE_SHMEM_OLD_EXTENDED_AMO_TYPES(X, D)
#define TERRANE_SHMEM_GENERIC_SYNC_TYPES(X, D) \
  TERRANE_SHMEM_GENERIC_AMO_TYPES(X, D) TERRANE_SHMEM_SHORT_SYNC_TYPES(X, D)

/* The element sizes, in bits, of interfaces without a type: X(D, BITS). */
#define TERRANE_SHMEM_SIZES(X, D) X(D, 8) X(D, 16) X(D, 32) X(D, 64) X(D, 128)

#endif
