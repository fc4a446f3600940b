// Deprecated collectives over active sets. Their work arrays are accepted and not used.
#include "frontend/shmem/collective_call.h"

namespace {

namespace interface = terrane::frontend::shmem;
using interface::ReduceOp;

}  // namespace

#define SET int PE_start, int logPE_stride, int PE_size
#define MEMBERS interface::active_set(kCall, PE_start, logPE_stride, PE_size)

#define COLLECTIVES_OF_SIZE(BITS)                                                                 \
  void shmem_alltoall##BITS(void* dest, const void* source, size_t nelems, SET, long*) noexcept { \
    constexpr const char* kCall = "shmem_alltoall" #BITS;                                         \
    if (auto* members = MEMBERS)                                                                  \
      interface::alltoall(*members, kCall, dest, source,                                          \
                          interface::bytes_of(kCall, nelems, BITS / 8));                          \
  }                                                                                               \
  void shmem_alltoalls##BITS(void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,        \
                             size_t nelems, SET, long*) noexcept {                                \
    constexpr const char* kCall = "shmem_alltoalls" #BITS;                                        \
    if (auto* members = MEMBERS)                                                                  \
      interface::alltoalls(*members, kCall, dest, source, dst, sst, nelems, BITS / 8);            \
  }                                                                                               \
  void shmem_broadcast##BITS(void* dest, const void* source, size_t nelems, int PE_root, SET,     \
                             long*) noexcept {                                                    \
    constexpr const char* kCall = "shmem_broadcast" #BITS;                                        \
    if (auto* members = MEMBERS)                                                                  \
      interface::broadcast(*members, kCall, dest, source,                                         \
                           interface::bytes_of(kCall, nelems, BITS / 8), PE_root, false);         \
  }                                                                                               \
  void shmem_collect##BITS(void* dest, const void* source, size_t nelems, SET, long*) noexcept {  \
    constexpr const char* kCall = "shmem_collect" #BITS;                                          \
    if (auto* members = MEMBERS)                                                                  \
      interface::collect(*members, kCall, dest, source,                                           \
                         interface::bytes_of(kCall, nelems, BITS / 8));                           \
  }                                                                                               \
  void shmem_fcollect##BITS(void* dest, const void* source, size_t nelems, SET, long*) noexcept { \
    constexpr const char* kCall = "shmem_fcollect" #BITS;                                         \
    if (auto* members = MEMBERS)                                                                  \
      interface::fcollect(*members, kCall, dest, source,                                          \
                          interface::bytes_of(kCall, nelems, BITS / 8));                          \
  }

#define TO_ALL(NAME, TYPE, OPERATION, OP)                                                    \
  void shmem_##NAME##_##OPERATION##_to_all(TYPE* dest, const TYPE* source, int nreduce, SET, \
                                           TYPE*, long*) noexcept {                          \
    constexpr const char* kCall = "shmem_" #NAME "_" #OPERATION "_to_all";                   \
    if (auto* members = MEMBERS)                                                             \
      interface::reduce<ReduceOp::OP, TYPE>(*members, kCall, dest, source,                   \
                                            static_cast<std::size_t>(nreduce));              \
  }

#define AND_OF_TYPE(D, NAME, TYPE) \
  TO_ALL(NAME, TYPE, and, kAnd) TO_ALL(NAME, TYPE, or, kOr) TO_ALL(NAME, TYPE, xor, kXor)
#define MAX_OF_TYPE(D, NAME, TYPE) TO_ALL(NAME, TYPE, max, kMax) TO_ALL(NAME, TYPE, min, kMin)
#define SUM_OF_TYPE(D, NAME, TYPE) TO_ALL(NAME, TYPE, sum, kSum) TO_ALL(NAME, TYPE, prod, kProd)

extern "C" {

COLLECTIVES_OF_SIZE(32)
COLLECTIVES_OF_SIZE(64)
TERRANE_SHMEM_TO_ALL_AND_TYPES(AND_OF_TYPE, )
TERRANE_SHMEM_TO_ALL_MAX_TYPES(MAX_OF_TYPE, )
TERRANE_SHMEM_TO_ALL_SUM_TYPES(SUM_OF_TYPE, )

}  // extern "C"
