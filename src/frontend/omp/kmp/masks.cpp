// Sets of processors of libomp and Intel's library, to which a thread is bound by a call. Numbers
// are those of the host of the calling thread. Source: "Thread Affinity Interface", the low-level
// interface, of Intel's guides.
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "frontend/threads/for_teams.h"

namespace {

// In the program's heap: every thread may read a set that one has made.
using Mask = void*;

constexpr int kWrong = -1;

cpu_set_t* set_of(const Mask* mask) {
  return mask == nullptr ? nullptr : static_cast<cpu_set_t*>(*mask);
}

int most() {
  static const int processors = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  return processors < CPU_SETSIZE ? processors : CPU_SETSIZE;
}

// 0: the processor exists and there is a set; else what a call gives that is wrong.
int fault_of(int processor, const Mask* mask) {
  return set_of(mask) == nullptr || processor < 0 || processor >= most() ? kWrong : 0;
}

}  // namespace

extern "C" {

void kmp_create_affinity_mask(Mask* mask) {
  if (mask == nullptr) return;
  *mask = std::calloc(1, sizeof(cpu_set_t));
  if (*mask == nullptr) terrane_program_fail("kmp_create_affinity_mask: no memory");
}
void kmp_destroy_affinity_mask(Mask* mask) {
  if (mask == nullptr) return;
  std::free(*mask);
  *mask = nullptr;
}

int kmp_get_affinity_max_proc() { return most(); }

int kmp_set_affinity_mask_proc(int processor, Mask* mask) {
  int fault = fault_of(processor, mask);
  if (fault == 0) CPU_SET(processor, set_of(mask));
  return fault;
}
int kmp_unset_affinity_mask_proc(int processor, Mask* mask) {
  int fault = fault_of(processor, mask);
  if (fault == 0) CPU_CLR(processor, set_of(mask));
  return fault;
}
// 1: it is in the set; 0: it is not.
int kmp_get_affinity_mask_proc(int processor, Mask* mask) {
  int fault = fault_of(processor, mask);
  return fault == 0 ? (CPU_ISSET(processor, set_of(mask)) ? 1 : 0) : fault;
}

// Binds the calling thread. 0, or an error number.
int kmp_set_affinity(Mask* mask) {
  if (set_of(mask) == nullptr) return EINVAL;
  return ::sched_setaffinity(0, sizeof(cpu_set_t), set_of(mask)) == 0 ? 0 : errno;
}
int kmp_get_affinity(Mask* mask) {
  if (set_of(mask) == nullptr) return EINVAL;
  CPU_ZERO(set_of(mask));
  return ::sched_getaffinity(0, sizeof(cpu_set_t), set_of(mask)) == 0 ? 0 : errno;
}

int kmpc_set_affinity_mask_proc(int processor, Mask* mask)
    __attribute__((alias("kmp_set_affinity_mask_proc")));
int kmpc_unset_affinity_mask_proc(int processor, Mask* mask)
    __attribute__((alias("kmp_unset_affinity_mask_proc")));
int kmpc_get_affinity_mask_proc(int processor, Mask* mask)
    __attribute__((alias("kmp_get_affinity_mask_proc")));

void kmp_create_affinity_mask_(Mask* mask) { kmp_create_affinity_mask(mask); }
void kmp_destroy_affinity_mask_(Mask* mask) { kmp_destroy_affinity_mask(mask); }
int kmp_get_affinity_max_proc_() { return most(); }
int kmp_set_affinity_mask_proc_(const int* processor, Mask* mask) {
  return kmp_set_affinity_mask_proc(*processor, mask);
}
int kmp_unset_affinity_mask_proc_(const int* processor, Mask* mask) {
  return kmp_unset_affinity_mask_proc(*processor, mask);
}
int kmp_get_affinity_mask_proc_(const int* processor, Mask* mask) {
  return kmp_get_affinity_mask_proc(*processor, mask);
}
int kmp_set_affinity_(Mask* mask) { return kmp_set_affinity(mask); }
int kmp_get_affinity_(Mask* mask) { return kmp_get_affinity(mask); }

}  // extern "C"
