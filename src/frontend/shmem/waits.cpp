// Point-to-point synchronisation: the specification's section of that name, and the waits of before
// 1.4.
#include <terrane/shmem/functions.h>

#include "frontend/shmem/call_times.h"
#include "frontend/shmem/process.h"
#include "runtime/shmem/wait_set.h"

// Not <shmem.h>: for C++ it makes shmem_wait_until an overload, which is defined here.
#define DECLARE(RETURNS, NAME, PARAMETERS) RETURNS NAME PARAMETERS noexcept;
extern "C" {
TERRANE_SHMEM_SYNC_FUNCTIONS(DECLARE)
TERRANE_SHMEM_OLD_SYNC_FUNCTIONS(DECLARE)
}  // extern "C"

namespace {

namespace interface = terrane::frontend::shmem;
namespace runtime = terrane::runtime::shmem;
using runtime::Comparison;
using runtime::WaitSet;

static_assert(SHMEM_CMP_EQ == static_cast<int>(Comparison::kEq) &&
              SHMEM_CMP_NE == static_cast<int>(Comparison::kNe) &&
              SHMEM_CMP_GT == static_cast<int>(Comparison::kGt) &&
              SHMEM_CMP_LE == static_cast<int>(Comparison::kLe) &&
              SHMEM_CMP_LT == static_cast<int>(Comparison::kLt) &&
              SHMEM_CMP_GE == static_cast<int>(Comparison::kGe));

Comparison comparison(int cmp, const char* call) {
  if (runtime::is_comparison(cmp)) return Comparison{cmp};
  interface::fail(call, fmt::format("the comparison {} is none of SHMEM_CMP_EQ, _NE, _GT, _LE, "
                                    "_LT, _GE",
                                    cmp));
}

template <typename T>
T wait_until(T* word, int cmp, T value, const char* call) {
  interface::Timed timed(interface::CallKind::kWait, call);
  return runtime::wait_until(interface::world_for(call), word, comparison(cmp, call), value);
}

// The call lasts as long as this.
template <typename T>
struct TimedSet : WaitSet<T> {
  TimedSet(const WaitSet<T>& set, const char* call)
      : WaitSet<T>(set), timed(interface::CallKind::kWait, call) {}
  interface::Timed timed;
};

template <typename T>
TimedSet<T> words(T* ivars, std::size_t count, const int* status, int cmp, const char* call) {
  return {WaitSet<T>(interface::world_for(call), ivars, count, status, comparison(cmp, call)),
          call};
}

}  // namespace

#define ONE_OF_TYPE(D, NAME, TYPE)                                               \
  void shmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value) noexcept { \
    wait_until<TYPE>(ivar, cmp, cmp_value, "shmem_" #NAME "_wait_until");        \
  }                                                                              \
  int shmem_##NAME##_test(TYPE* ivar, int cmp, TYPE cmp_value) noexcept {        \
    auto set = words<TYPE>(ivar, 1, nullptr, cmp, "shmem_" #NAME "_test");       \
    return set.against(cmp_value).test_all() ? 1 : 0;                            \
  }

// For `VALUE` of `VALUE_TYPE`, by AGAINST.
#define MANY(NAME, TYPE, SUFFIX, VALUE_TYPE, AGAINST)                                              \
  void shmem_##NAME##_wait_until_all##SUFFIX(TYPE* ivars, size_t nelems, const int* status,        \
                                             int cmp, VALUE_TYPE value) noexcept {                 \
    constexpr const char* kCall = "shmem_" #NAME "_wait_until_all" #SUFFIX;                        \
    words<TYPE>(ivars, nelems, status, cmp, kCall).AGAINST(value).wait_all();                      \
  }                                                                                                \
  size_t shmem_##NAME##_wait_until_any##SUFFIX(TYPE* ivars, size_t nelems, const int* status,      \
                                               int cmp, VALUE_TYPE value) noexcept {               \
    constexpr const char* kCall = "shmem_" #NAME "_wait_until_any" #SUFFIX;                        \
    return words<TYPE>(ivars, nelems, status, cmp, kCall).AGAINST(value).wait_any();               \
  }                                                                                                \
  size_t shmem_##NAME##_wait_until_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices,       \
                                                const int* status, int cmp,                        \
                                                VALUE_TYPE value) noexcept {                       \
    constexpr const char* kCall = "shmem_" #NAME "_wait_until_some" #SUFFIX;                       \
    return words<TYPE>(ivars, nelems, status, cmp, kCall).AGAINST(value).wait_some(indices);       \
  }                                                                                                \
  int shmem_##NAME##_test_all##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp,      \
                                      VALUE_TYPE value) noexcept {                                 \
    constexpr const char* kCall = "shmem_" #NAME "_test_all" #SUFFIX;                              \
    return words<TYPE>(ivars, nelems, status, cmp, kCall).AGAINST(value).test_all() ? 1 : 0;       \
  }                                                                                                \
  size_t shmem_##NAME##_test_any##SUFFIX(TYPE* ivars, size_t nelems, const int* status, int cmp,   \
                                         VALUE_TYPE value) noexcept {                              \
    constexpr const char* kCall = "shmem_" #NAME "_test_any" #SUFFIX;                              \
    return words<TYPE>(ivars, nelems, status, cmp, kCall).AGAINST(value).test_any();               \
  }                                                                                                \
  size_t shmem_##NAME##_test_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices,             \
                                          const int* status, int cmp, VALUE_TYPE value) noexcept { \
    constexpr const char* kCall = "shmem_" #NAME "_test_some" #SUFFIX;                             \
    return words<TYPE>(ivars, nelems, status, cmp, kCall).AGAINST(value).test_some(indices);       \
  }

#define MANY_OF_TYPE(D, NAME, TYPE) \
  MANY(NAME, TYPE, , TYPE, against) MANY(NAME, TYPE, _vector, const TYPE*, against_each)

#define OLD_WAIT_OF_TYPE(D, NAME, TYPE)                                      \
  void shmem_##NAME##_wait(TYPE* ivar, TYPE cmp_value) noexcept {            \
    wait_until<TYPE>(ivar, SHMEM_CMP_NE, cmp_value, "shmem_" #NAME "_wait"); \
  }

extern "C" {

TERRANE_SHMEM_STANDARD_AMO_TYPES(ONE_OF_TYPE, )
TERRANE_SHMEM_SHORT_SYNC_TYPES(ONE_OF_TYPE, )
TERRANE_SHMEM_STANDARD_AMO_TYPES(MANY_OF_TYPE, )
TERRANE_SHMEM_OLD_WAIT_TYPES(OLD_WAIT_OF_TYPE, )

void shmem_wait(long* ivar, long cmp_value) noexcept {
  wait_until<long>(ivar, SHMEM_CMP_NE, cmp_value, "shmem_wait");
}

void shmem_wait_until(long* ivar, int cmp, long cmp_value) noexcept {
  wait_until<long>(ivar, cmp, cmp_value, "shmem_wait_until");
}

uint64_t shmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value) noexcept {
  return wait_until<uint64_t>(sig_addr, cmp, cmp_value, "shmem_signal_wait_until");
}

}  // extern "C"
