/* A barrier of threads that wait by a ladder: spin while the processors suffice, then yield. */
#ifndef TERRANE_BENCH_SPIN_BARRIER_H
#define TERRANE_BENCH_SPIN_BARRIER_H

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* Shared by `threads` threads; each cache line has one kind of writer. */
typedef struct spin_barrier {
  _Alignas(64) atomic_size_t arrived;
  _Alignas(64) atomic_size_t round;
  _Alignas(64) size_t threads;
  size_t spins; /* looks before the first yield; 0 when there are more threads than processors */
} spin_barrier;

enum { kBarrierSpins = 2000 };

static inline void spin_barrier_init(spin_barrier* barrier, size_t threads) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  atomic_init(&barrier->arrived, 0);
  atomic_init(&barrier->round, 0);
  barrier->threads = threads;
  barrier->spins = (long)threads <= processors ? kBarrierSpins : 0;
}

static inline void spin_barrier_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static inline void spin_barrier_wait(spin_barrier* barrier) {
  const size_t round = atomic_load_explicit(&barrier->round, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 ==
      barrier->threads) {
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
    return;
  }
  for (size_t looks = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round;
       looks++) {
    if (looks < barrier->spins) {
      spin_barrier_pause();
    } else {
      sched_yield();
    }
  }
}

#endif
