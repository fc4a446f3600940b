// The functions of locks that Intel's compilers call in place of omp_*_lock, with a place in the
// program: the same locks (../locks.cpp).
#include "frontend/omp/kmp/abi.h"

using namespace terrane::frontend::omp::kmp;

#define TERRANE_KMP_LOCK(result, kind, function)                   \
  result terrane_new_omp_##function##kind(void* lock);             \
  result __kmpc_##function##kind(const Ident*, Gtid, void* lock) { \
    return terrane_new_omp_##function##kind(lock);                 \
  }
#define TERRANE_KMP_LOCKS(kind)                                                         \
  TERRANE_KMP_LOCK(void, kind, init_)                                                   \
  TERRANE_KMP_LOCK(void, kind, destroy_)                                                \
  TERRANE_KMP_LOCK(void, kind, set_)                                                    \
  TERRANE_KMP_LOCK(void, kind, unset_)                                                  \
  TERRANE_KMP_LOCK(int, kind, test_)                                                    \
  void __kmpc_init_##kind##_with_hint(const Ident*, Gtid, void* lock, std::uintptr_t) { \
    terrane_new_omp_init_##kind(lock);                                                  \
  }

extern "C" {
TERRANE_KMP_LOCKS(lock)
TERRANE_KMP_LOCKS(nest_lock)
}  // extern "C"
