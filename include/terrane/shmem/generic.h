/* C11: the calls whose type the argument tells. Where a context may come first, the number of
 * arguments tells whether it does. */
#ifndef TERRANE_SHMEM_GENERIC_H
#define TERRANE_SHMEM_GENERIC_H

#include <terrane/shmem/functions.h>

/* Named in the compiler's message when no operation takes the type of the argument. */
void terrane_shmem_no_such_operation_for_this_type(void);

#define TERRANE_SHMEM_CASE(OP, NAME, TYPE) \
  TYPE:                                    \
  shmem_##NAME##_##OP,
#define TERRANE_SHMEM_CTX_CASE(OP, NAME, TYPE) \
  TYPE:                                        \
  shmem_ctx_##NAME##_##OP,
#define TERRANE_SHMEM_CHOOSE(TYPES, CASE, OP, POINTER)                         \
  _Generic(*(POINTER), TERRANE_SHMEM_GENERIC_##TYPES##_TYPES(CASE, OP) default \
           : terrane_shmem_no_such_operation_for_this_type)

/* By the first argument; by the one after the context; by the one after the team */
#define TERRANE_SHMEM_PLAIN(TYPES, OP, FIRST, ...) \
  TERRANE_SHMEM_CHOOSE(TYPES, TERRANE_SHMEM_CASE, OP, FIRST)(FIRST, __VA_ARGS__)
#define TERRANE_SHMEM_CTX(TYPES, OP, CTX, FIRST, ...) \
  TERRANE_SHMEM_CHOOSE(TYPES, TERRANE_SHMEM_CTX_CASE, OP, FIRST)(CTX, FIRST, __VA_ARGS__)
#define TERRANE_SHMEM_TEAM(TYPES, OP, TEAM, DEST, ...) \
  TERRANE_SHMEM_CHOOSE(TYPES, TERRANE_SHMEM_CASE, OP, DEST)(TEAM, DEST, __VA_ARGS__)

/* TERRANE_SHMEM_PICK_n(arguments, A, B, 0): A if there are n arguments, B if one less. */
#define TERRANE_SHMEM_PICK_3(a1, a2, a3, CHOICE, ...) CHOICE
#define TERRANE_SHMEM_PICK_4(a1, a2, a3, a4, CHOICE, ...) CHOICE
#define TERRANE_SHMEM_PICK_5(a1, a2, a3, a4, a5, CHOICE, ...) CHOICE
#define TERRANE_SHMEM_PICK_6(a1, a2, a3, a4, a5, a6, CHOICE, ...) CHOICE
#define TERRANE_SHMEM_PICK_7(a1, a2, a3, a4, a5, a6, a7, CHOICE, ...) CHOICE
#define TERRANE_SHMEM_PICK_8(a1, a2, a3, a4, a5, a6, a7, a8, CHOICE, ...) CHOICE

/* Remote memory access and signals */
#define shmem_put(...)                                                         \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, put, __VA_ARGS__)
#define shmem_get(...)                                                         \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, get, __VA_ARGS__)
#define shmem_put_nbi(...)                                                     \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...)                                                     \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, get_nbi, __VA_ARGS__)
#define shmem_p(...) \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0)(RMA, p, __VA_ARGS__)
#define shmem_g(...) \
  TERRANE_SHMEM_PICK_3(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0)(RMA, g, __VA_ARGS__)
#define shmem_iput(...)                                                        \
  TERRANE_SHMEM_PICK_7(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, iput, __VA_ARGS__)
#define shmem_iget(...)                                                        \
  TERRANE_SHMEM_PICK_7(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, iget, __VA_ARGS__)
#define shmem_ibput(...)                                                       \
  TERRANE_SHMEM_PICK_8(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, ibput, __VA_ARGS__)
#define shmem_ibget(...)                                                       \
  TERRANE_SHMEM_PICK_8(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, ibget, __VA_ARGS__)
#define shmem_put_signal(...)                                                  \
  TERRANE_SHMEM_PICK_8(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...)                                              \
  TERRANE_SHMEM_PICK_8(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (RMA, put_signal_nbi, __VA_ARGS__)
#define shmem_signal_add(...) \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, shmem_ctx_signal_add, shmem_signal_add, 0)(__VA_ARGS__)
#define shmem_signal_set(...) \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, shmem_ctx_signal_set, shmem_signal_set, 0)(__VA_ARGS__)

/* Atomic operations */
#define shmem_atomic_compare_swap(...)                                         \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)                                            \
  TERRANE_SHMEM_PICK_3(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...)                                                  \
  TERRANE_SHMEM_PICK_3(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)                                            \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...)                                                  \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_add, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...)                                     \
  TERRANE_SHMEM_PICK_6(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)                                        \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)                                        \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (AMO, atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch(...)                                                \
  TERRANE_SHMEM_PICK_3(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (EXTENDED, atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)                                                  \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (EXTENDED, atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)                                                 \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (EXTENDED, atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)                                            \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (EXTENDED, atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)                                             \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (EXTENDED, atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)                                            \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...)                                                  \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)                                        \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)                                             \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...)                                                   \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)                                         \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)                                            \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...)                                                  \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)                                        \
  TERRANE_SHMEM_PICK_5(__VA_ARGS__, TERRANE_SHMEM_CTX, TERRANE_SHMEM_PLAIN, 0) \
  (BITWISE, atomic_fetch_xor_nbi, __VA_ARGS__)

/* Collective routines */
#define shmem_alltoall(...) TERRANE_SHMEM_TEAM(RMA, alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) TERRANE_SHMEM_TEAM(RMA, alltoalls, __VA_ARGS__)
#define shmem_broadcast(...) TERRANE_SHMEM_TEAM(RMA, broadcast, __VA_ARGS__)
#define shmem_collect(...) TERRANE_SHMEM_TEAM(RMA, collect, __VA_ARGS__)
#define shmem_fcollect(...) TERRANE_SHMEM_TEAM(RMA, fcollect, __VA_ARGS__)
#define shmem_and_reduce(...) TERRANE_SHMEM_TEAM(AND, and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) TERRANE_SHMEM_TEAM(AND, or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) TERRANE_SHMEM_TEAM(AND, xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) TERRANE_SHMEM_TEAM(RMA, max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) TERRANE_SHMEM_TEAM(RMA, min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) TERRANE_SHMEM_TEAM(SUM, sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) TERRANE_SHMEM_TEAM(SUM, prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) TERRANE_SHMEM_TEAM(SUM, sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) TERRANE_SHMEM_TEAM(SUM, sum_exscan, __VA_ARGS__)
/* One argument: a team. Four: an active set. */
#define shmem_sync(...) \
  TERRANE_SHMEM_PICK_4(__VA_ARGS__, shmem_sync, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

/* Point-to-point synchronisation */
#define shmem_wait_until(...) TERRANE_SHMEM_PLAIN(SYNC, wait_until, __VA_ARGS__)
#define shmem_test(...) TERRANE_SHMEM_PLAIN(SYNC, test, __VA_ARGS__)
#define shmem_wait_until_all(...) TERRANE_SHMEM_PLAIN(AMO, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) TERRANE_SHMEM_PLAIN(AMO, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) TERRANE_SHMEM_PLAIN(AMO, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) \
  TERRANE_SHMEM_PLAIN(AMO, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) \
  TERRANE_SHMEM_PLAIN(AMO, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
  TERRANE_SHMEM_PLAIN(AMO, wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all(...) TERRANE_SHMEM_PLAIN(AMO, test_all, __VA_ARGS__)
#define shmem_test_any(...) TERRANE_SHMEM_PLAIN(AMO, test_any, __VA_ARGS__)
#define shmem_test_some(...) TERRANE_SHMEM_PLAIN(AMO, test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) TERRANE_SHMEM_PLAIN(AMO, test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) TERRANE_SHMEM_PLAIN(AMO, test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) TERRANE_SHMEM_PLAIN(AMO, test_some_vector, __VA_ARGS__)

/* Deprecated */
#define shmem_cswap(...) TERRANE_SHMEM_PLAIN(OLD_AMO, cswap, __VA_ARGS__)
#define shmem_finc(...) TERRANE_SHMEM_PLAIN(OLD_AMO, finc, __VA_ARGS__)
#define shmem_inc(...) TERRANE_SHMEM_PLAIN(OLD_AMO, inc, __VA_ARGS__)
#define shmem_fadd(...) TERRANE_SHMEM_PLAIN(OLD_AMO, fadd, __VA_ARGS__)
#define shmem_add(...) TERRANE_SHMEM_PLAIN(OLD_AMO, add, __VA_ARGS__)
#define shmem_fetch(...) TERRANE_SHMEM_PLAIN(OLD_EXTENDED, fetch, __VA_ARGS__)
#define shmem_set(...) TERRANE_SHMEM_PLAIN(OLD_EXTENDED, set, __VA_ARGS__)
#define shmem_swap(...) TERRANE_SHMEM_PLAIN(OLD_EXTENDED, swap, __VA_ARGS__)

#endif
