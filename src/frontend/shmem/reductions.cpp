// Reductions and scans over teams: the specification's section "Collective Routines".
#include "frontend/shmem/collective_call.h"

namespace {

namespace interface = terrane::frontend::shmem;
using interface::ReduceOp;

}  // namespace

#define REDUCE(NAME, TYPE, OPERATION, OP)                                                    \
  int shmem_##NAME##_##OPERATION##_reduce(shmem_team_t team, TYPE* dest, const TYPE* source, \
                                          size_t nreduce) noexcept {                         \
    constexpr const char* kCall = "shmem_" #NAME "_" #OPERATION "_reduce";                   \
    interface::Team& members = interface::team_for(team, kCall);                             \
    interface::reduce<ReduceOp::OP, TYPE>(members, kCall, dest, source, nreduce);            \
    return 0;                                                                                \
  }

#define SCAN(NAME, TYPE, OPERATION, INCLUSIVE)                                          \
  int shmem_##NAME##_sum_##OPERATION(shmem_team_t team, TYPE* dest, const TYPE* source, \
                                     size_t nelems) noexcept {                          \
    constexpr const char* kCall = "shmem_" #NAME "_sum_" #OPERATION;                    \
    interface::Team& members = interface::team_for(team, kCall);                        \
    interface::scan<TYPE>(members, kCall, dest, source, nelems, INCLUSIVE);             \
    return 0;                                                                           \
  }

#define AND_OF_TYPE(D, NAME, TYPE) \
  REDUCE(NAME, TYPE, and, kAnd) REDUCE(NAME, TYPE, or, kOr) REDUCE(NAME, TYPE, xor, kXor)
#define MAX_OF_TYPE(D, NAME, TYPE) REDUCE(NAME, TYPE, max, kMax) REDUCE(NAME, TYPE, min, kMin)
#define SUM_OF_TYPE(D, NAME, TYPE) \
  REDUCE(NAME, TYPE, sum, kSum)    \
  REDUCE(NAME, TYPE, prod, kProd)  \
  SCAN(NAME, TYPE, inscan, true) SCAN(NAME, TYPE, exscan, false)

extern "C" {

TERRANE_SHMEM_AND_TYPES(AND_OF_TYPE, )
TERRANE_SHMEM_MAX_TYPES(MAX_OF_TYPE, )
TERRANE_SHMEM_SUM_TYPES(SUM_OF_TYPE, )

}  // extern "C"
