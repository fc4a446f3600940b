// Collectives of teams that move data: the specification's section "Collective Routines".
#include "frontend/shmem/collective_call.h"

namespace {

namespace interface = terrane::frontend::shmem;

}  // namespace

// One set of functions: their names with `INFIX` and `SUFFIX`, their elements of `BYTES`.
#define COLLECTIVES(INFIX, SUFFIX, TYPE, BYTES)                                                   \
  int shmem_##INFIX##alltoall##SUFFIX(shmem_team_t team, TYPE* dest, const TYPE* source,          \
                                      size_t nelems) noexcept {                                   \
    constexpr const char* kCall = "shmem_" #INFIX "alltoall" #SUFFIX;                             \
    interface::Team& members = interface::team_for(team, kCall);                                  \
    interface::alltoall(members, kCall, dest, source, interface::bytes_of(kCall, nelems, BYTES)); \
    return 0;                                                                                     \
  }                                                                                               \
  int shmem_##INFIX##alltoalls##SUFFIX(shmem_team_t team, TYPE* dest, const TYPE* source,         \
                                       ptrdiff_t dst, ptrdiff_t sst, size_t nelems) noexcept {    \
    constexpr const char* kCall = "shmem_" #INFIX "alltoalls" #SUFFIX;                            \
    interface::Team& members = interface::team_for(team, kCall);                                  \
    interface::alltoalls(members, kCall, dest, source, dst, sst, nelems, BYTES);                  \
    return 0;                                                                                     \
  }                                                                                               \
  int shmem_##INFIX##broadcast##SUFFIX(shmem_team_t team, TYPE* dest, const TYPE* source,         \
                                       size_t nelems, int PE_root) noexcept {                     \
    constexpr const char* kCall = "shmem_" #INFIX "broadcast" #SUFFIX;                            \
    interface::Team& members = interface::team_for(team, kCall);                                  \
    interface::broadcast(members, kCall, dest, source, interface::bytes_of(kCall, nelems, BYTES), \
                         PE_root, true);                                                          \
    return 0;                                                                                     \
  }                                                                                               \
  int shmem_##INFIX##collect##SUFFIX(shmem_team_t team, TYPE* dest, const TYPE* source,           \
                                     size_t nelems) noexcept {                                    \
    constexpr const char* kCall = "shmem_" #INFIX "collect" #SUFFIX;                              \
    interface::Team& members = interface::team_for(team, kCall);                                  \
    interface::collect(members, kCall, dest, source, interface::bytes_of(kCall, nelems, BYTES));  \
    return 0;                                                                                     \
  }                                                                                               \
  int shmem_##INFIX##fcollect##SUFFIX(shmem_team_t team, TYPE* dest, const TYPE* source,          \
                                      size_t nelems) noexcept {                                   \
    constexpr const char* kCall = "shmem_" #INFIX "fcollect" #SUFFIX;                             \
    interface::Team& members = interface::team_for(team, kCall);                                  \
    interface::fcollect(members, kCall, dest, source, interface::bytes_of(kCall, nelems, BYTES)); \
    return 0;                                                                                     \
  }

#define COLLECTIVES_OF_TYPE(D, NAME, TYPE) COLLECTIVES(NAME##_, , TYPE, sizeof(TYPE))

extern "C" {

TERRANE_SHMEM_RMA_TYPES(COLLECTIVES_OF_TYPE, )
COLLECTIVES(, mem, void, 1)

}  // extern "C"
