/* Placement of arrays in OpenMP programs that `terrane omp` runs on several nodes.
 *
 * Such a program needs no call of this header: pages find their homes by their use. A mapping gives
 * an array its homes before that, and so spares its first pages their way. terrane-gcc and
 * terrane-g++ find this header and link what it declares. A program that runs by itself, without
 * Terrane, ignores its mappings. Fortran's interface is in terrane/fortran/omp.inc.
 */
#ifndef TERRANE_OMP_H
#define TERRANE_OMP_H

#include <stddef.h>
#include <terrane/status.h>

/* How a dimension of an array is dealt to the nodes. */
enum {
  TERRANE_ALL = 0,  /* it is not: all of it is where the other dimensions say */
  TERRANE_BLOCK = 1 /* in blocks, as a static loop over it is dealt to all threads */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the pages of an array homes on the nodes that TERRANE_BLOCK deals its elements to; a page
 * goes to the node of its first element. `extents` and `distributions` have one entry for each of
 * at most 7 dimensions, the last of which is contiguous, and exactly one of them is TERRANE_BLOCK.
 *
 * Call it in main's thread, outside of parallel regions, before the array is written for the first
 * time: pages that have been written keep their values, and follow their writers as others do. A
 * wrong call ends the program with one sentence: in a parallel region, for memory that is private
 * to a thread or node, for an array that has been mapped before, with wrong dimensions. */
TERRANE_API void terrane_map_array(const void* array, size_t element_bytes, unsigned dimensions,
                                   const size_t* extents,
                                   const int* distributions) TERRANE_NOEXCEPT;

/* For the macro below. `place`: &array, which differs where a pointer was given. */
TERRANE_API void terrane_map_whole(const void* place, const void* array, size_t element_bytes,
                                   unsigned dimensions, const size_t* extents,
                                   const int* distributions) TERRANE_NOEXCEPT;

#ifdef __cplusplus
}
#endif

/* terrane_map(array, TERRANE_BLOCK, TERRANE_ALL): the same for an array of 1 to 4 dimensions, with
 * one word for each. It must be an array: of a pointer the extents are not known. */
#define terrane_map(array, ...)                                                                    \
  TERRANE_MAP_PICK_(__VA_ARGS__, TERRANE_MAP_4_, TERRANE_MAP_3_, TERRANE_MAP_2_, TERRANE_MAP_1_, ) \
  (array, __VA_ARGS__)

#define TERRANE_MAP_PICK_(a, b, c, d, pick, ...) pick
#define TERRANE_MAP_CALL_(array, element, dimensions, extents, ...)            \
  do {                                                                         \
    const size_t terrane_extents[] = extents;                                  \
    const int terrane_distributions[] = {__VA_ARGS__};                         \
    terrane_map_whole(&(array), (array), element, dimensions, terrane_extents, \
                      terrane_distributions);                                  \
  } while (0)
#define TERRANE_MAP_LIST_(...) \
  { __VA_ARGS__ }
#define TERRANE_MAP_EXTENT_(array) (sizeof(array) / sizeof((array)[0]))
#define TERRANE_MAP_1_(array, ...) \
  TERRANE_MAP_CALL_(array, sizeof((array)[0]), 1, {TERRANE_MAP_EXTENT_(array)}, __VA_ARGS__)
#define TERRANE_MAP_2_(array, ...)     \
  TERRANE_MAP_CALL_(                   \
      array, sizeof((array)[0][0]), 2, \
      TERRANE_MAP_LIST_(TERRANE_MAP_EXTENT_(array), TERRANE_MAP_EXTENT_((array)[0])), __VA_ARGS__)
#define TERRANE_MAP_3_(array, ...)                                                                 \
  TERRANE_MAP_CALL_(array, sizeof((array)[0][0][0]), 3,                                            \
                    TERRANE_MAP_LIST_(TERRANE_MAP_EXTENT_(array), TERRANE_MAP_EXTENT_((array)[0]), \
                                      TERRANE_MAP_EXTENT_((array)[0][0])),                         \
                    __VA_ARGS__)
#define TERRANE_MAP_4_(array, ...)                                                                 \
  TERRANE_MAP_CALL_(array, sizeof((array)[0][0][0][0]), 4,                                         \
                    TERRANE_MAP_LIST_(TERRANE_MAP_EXTENT_(array), TERRANE_MAP_EXTENT_((array)[0]), \
                                      TERRANE_MAP_EXTENT_((array)[0][0]),                          \
                                      TERRANE_MAP_EXTENT_((array)[0][0][0])),                      \
                    __VA_ARGS__)

#endif
