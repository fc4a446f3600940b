/* The functions __kmpc_atomic_*, which Intel's compilers call for atomic constructs. Usage:
 * kmp_atomics_program table: what each of them does to some objects, by one thread, one line each;
 * the same for every library that has them. kmp_atomics_program together: all threads change the
 * same objects; says "good", or what is wrong. */
#include <complex.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef float complex cmplx4;
typedef double complex cmplx8;
typedef long double complex cmplx10;

/* The number of a thread, as the library has it. */
extern int __kmpc_global_thread_num(void*);
static __thread int gtid;

static void print(const char* name, const void* object, size_t bytes) {
  const unsigned char* at = object;
  printf("%s", name);
  for (size_t i = 0; i < bytes; i++) printf(" %02x", at[i]);
  puts("");
}

#define UPDATE(NAME, TYPE, OPERAND, X, V)                         \
  {                                                               \
    extern void __kmpc_atomic_##NAME(void*, int, TYPE*, OPERAND); \
    TYPE x = (X);                                                 \
    __kmpc_atomic_##NAME(0, gtid, &x, (V));                       \
    print(#NAME, &x, bytes);                                      \
  }
#define CAPTURE(NAME, TYPE, OPERAND, X, V)                             \
  for (int after = 0; after < 2; after++) {                            \
    extern TYPE __kmpc_atomic_##NAME(void*, int, TYPE*, OPERAND, int); \
    TYPE x = (X);                                                      \
    TYPE found = __kmpc_atomic_##NAME(0, gtid, &x, (V), after);        \
    print(#NAME, &x, bytes);                                           \
    print("  captured", &found, bytes);                                \
  }
#define CAPTURE_INTO(NAME, TYPE, X, V)                                     \
  for (int after = 0; after < 2; after++) {                                \
    extern void __kmpc_atomic_##NAME(void*, int, TYPE*, TYPE, TYPE*, int); \
    TYPE x = (X), found = 0;                                               \
    __kmpc_atomic_##NAME(0, gtid, &x, (V), &found, after);                 \
    print(#NAME, &x, bytes);                                               \
    print("  captured", &found, bytes);                                    \
  }
#define BOTH(PREFIX, NAME, TYPE, X, V)      \
  UPDATE(PREFIX##_##NAME, TYPE, TYPE, X, V) \
  CAPTURE(PREFIX##_##NAME##_cpt, TYPE, TYPE, X, V)
#define REVERSED(PREFIX, NAME, TYPE, X, V)        \
  UPDATE(PREFIX##_##NAME##_rev, TYPE, TYPE, X, V) \
  CAPTURE(PREFIX##_##NAME##_cpt_rev, TYPE, TYPE, X, V)
#define SUMS_AND_PRODUCTS(PREFIX, TYPE, X, V) \
  BOTH(PREFIX, add, TYPE, X, V)               \
  BOTH(PREFIX, sub, TYPE, X, V)               \
  BOTH(PREFIX, mul, TYPE, X, V)               \
  BOTH(PREFIX, div, TYPE, X, V)               \
  REVERSED(PREFIX, sub, TYPE, X, V)           \
  REVERSED(PREFIX, div, TYPE, X, V)
#define READ_AND_WRITE(PREFIX, TYPE, X, V)                            \
  {                                                                   \
    extern TYPE __kmpc_atomic_##PREFIX##_rd(void*, int, TYPE*);       \
    extern void __kmpc_atomic_##PREFIX##_wr(void*, int, TYPE*, TYPE); \
    TYPE x = (X), found = __kmpc_atomic_##PREFIX##_rd(0, gtid, &x);   \
    print(#PREFIX "_rd", &found, bytes);                              \
    __kmpc_atomic_##PREFIX##_wr(0, gtid, &x, (V));                    \
    print(#PREFIX "_wr", &x, bytes);                                  \
  }
#define SWAP(PREFIX, TYPE, X, V)                                          \
  {                                                                       \
    extern TYPE __kmpc_atomic_##PREFIX##_swp(void*, int, TYPE*, TYPE);    \
    TYPE x = (X), found = __kmpc_atomic_##PREFIX##_swp(0, gtid, &x, (V)); \
    print(#PREFIX "_swp", &x, bytes);                                     \
    print("  captured", &found, bytes);                                   \
  }
#define EXTREMES(PREFIX, TYPE, X, V) \
  BOTH(PREFIX, max, TYPE, X, V)      \
  BOTH(PREFIX, min, TYPE, X, V)

#define COMPARE(SIZE, TYPE, X, WANTED, V)                                                      \
  {                                                                                            \
    extern _Bool __kmpc_atomic_bool_##SIZE##_cas(void*, int, TYPE*, TYPE, TYPE);               \
    extern _Bool __kmpc_atomic_bool_##SIZE##_cas_cpt(void*, int, TYPE*, TYPE, TYPE, TYPE*);    \
    extern TYPE __kmpc_atomic_val_##SIZE##_cas(void*, int, TYPE*, TYPE, TYPE);                 \
    extern TYPE __kmpc_atomic_val_##SIZE##_cas_cpt(void*, int, TYPE*, TYPE, TYPE, TYPE*);      \
    TYPE x = (X), other = 77;                                                                  \
    int is_equal = __kmpc_atomic_bool_##SIZE##_cas(0, gtid, &x, (WANTED), (V));                \
    printf("bool_" #SIZE "_cas %d %lld\n", is_equal, (long long)x);                            \
    x = (X);                                                                                   \
    is_equal = __kmpc_atomic_bool_##SIZE##_cas_cpt(0, gtid, &x, (WANTED), (V), &other);        \
    printf("bool_" #SIZE "_cas_cpt %d %lld %lld\n", is_equal, (long long)x, (long long)other); \
    x = (X);                                                                                   \
    TYPE found = __kmpc_atomic_val_##SIZE##_cas(0, gtid, &x, (WANTED), (V));                   \
    printf("val_" #SIZE "_cas %lld %lld\n", (long long)found, (long long)x);                   \
    x = (X), other = 77;                                                                       \
    found = __kmpc_atomic_val_##SIZE##_cas_cpt(0, gtid, &x, (WANTED), (V), &other);            \
    printf("val_" #SIZE "_cas_cpt %lld %lld %lld\n", (long long)found, (long long)x,           \
           (long long)other);                                                                  \
  }

#define INTEGER(SIZE, TYPE, UTYPE, X, V)                   \
  {                                                        \
    const size_t bytes = sizeof(TYPE);                     \
    SUMS_AND_PRODUCTS(fixed##SIZE, TYPE, X, V)             \
    READ_AND_WRITE(fixed##SIZE, TYPE, X, V)                \
    SWAP(fixed##SIZE, TYPE, X, V)                          \
    EXTREMES(fixed##SIZE, TYPE, X, V)                      \
    BOTH(fixed##SIZE, andb, TYPE, X, V)                    \
    BOTH(fixed##SIZE, orb, TYPE, X, V)                     \
    BOTH(fixed##SIZE, xor, TYPE, X, V)                     \
    BOTH(fixed##SIZE, andl, TYPE, X, V)                    \
    BOTH(fixed##SIZE, orl, TYPE, X, V)                     \
    BOTH(fixed##SIZE, eqv, TYPE, X, V)                     \
    BOTH(fixed##SIZE, neqv, TYPE, X, V)                    \
    BOTH(fixed##SIZE, shl, TYPE, X, 3)                     \
    BOTH(fixed##SIZE, shr, TYPE, X, 3)                     \
    REVERSED(fixed##SIZE, shl, TYPE, 2, V)                 \
    REVERSED(fixed##SIZE, shr, TYPE, 2, V)                 \
    BOTH(fixed##SIZE##u, div, UTYPE, X, V)                 \
    REVERSED(fixed##SIZE##u, div, UTYPE, X, V)             \
    BOTH(fixed##SIZE##u, shr, UTYPE, X, 3)                 \
    REVERSED(fixed##SIZE##u, shr, UTYPE, 2, V)             \
    UPDATE(fixed##SIZE##_mul_float8, TYPE, double, X, 1.5) \
    UPDATE(fixed##SIZE##_div_float8, TYPE, double, X, 0.5) \
    COMPARE(SIZE, TYPE, X, X, V)                           \
    COMPARE(SIZE, TYPE, X, V, X)                           \
  }

#define REAL(PREFIX, TYPE, BYTES, X, V)   \
  {                                       \
    const size_t bytes = BYTES;           \
    SUMS_AND_PRODUCTS(PREFIX, TYPE, X, V) \
    READ_AND_WRITE(PREFIX, TYPE, X, V)    \
    SWAP(PREFIX, TYPE, X, V)              \
    EXTREMES(PREFIX, TYPE, X, V)          \
  }

#define GENERIC(SIZE)                                                                          \
  {                                                                                            \
    extern void __kmpc_atomic_##SIZE(void*, int, void*, void*, void (*)(void*, void*, void*)); \
    unsigned char object[32], operand[32];                                                     \
    for (int i = 0; i < 32; i++)                                                               \
      object[i] = (unsigned char)i, operand[i] = (unsigned char)(7 * i);                       \
    generic_bytes = SIZE;                                                                      \
    __kmpc_atomic_##SIZE(0, gtid, object, operand, add_bytes);                                 \
    print("generic", object, sizeof object);                                                   \
  }

static size_t generic_bytes;
static void add_bytes(void* result, void* object, void* operand) {
  for (size_t i = 0; i < generic_bytes; i++)
    ((unsigned char*)result)[i] =
        (unsigned char)(((unsigned char*)object)[i] + ((unsigned char*)operand)[i]);
}

static void table_of_complex(void) {
  {
    const size_t bytes = sizeof(cmplx8);
    SUMS_AND_PRODUCTS(cmplx8, cmplx8, 3 + 4 * I, 1 - 2 * I)
    READ_AND_WRITE(cmplx8, cmplx8, 3 + 4 * I, 1 - 2 * I)
    SWAP(cmplx8, cmplx8, 3 + 4 * I, 1 - 2 * I)
  }
  {
    const size_t bytes = 10; /* the real part */
    SUMS_AND_PRODUCTS(cmplx10, cmplx10, 3 + 4 * I, 1 - 2 * I)
    READ_AND_WRITE(cmplx10, cmplx10, 3 + 4 * I, 1 - 2 * I)
    SWAP(cmplx10, cmplx10, 3 + 4 * I, 1 - 2 * I)
  }
  const size_t bytes = sizeof(cmplx4);
  READ_AND_WRITE(cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_add, cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_sub, cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_mul, cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_div, cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_sub_rev, cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_div_rev, cmplx4, cmplx4, 3 + 4 * I, 1 - 2 * I)
  CAPTURE_INTO(cmplx4_add_cpt, cmplx4, 3 + 4 * I, 1 - 2 * I)
  CAPTURE_INTO(cmplx4_sub_cpt, cmplx4, 3 + 4 * I, 1 - 2 * I)
  CAPTURE_INTO(cmplx4_mul_cpt, cmplx4, 3 + 4 * I, 1 - 2 * I)
  CAPTURE_INTO(cmplx4_div_cpt, cmplx4, 3 + 4 * I, 1 - 2 * I)
  CAPTURE_INTO(cmplx4_sub_cpt_rev, cmplx4, 3 + 4 * I, 1 - 2 * I)
  CAPTURE_INTO(cmplx4_div_cpt_rev, cmplx4, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_add_cmplx8, cmplx4, cmplx8, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_sub_cmplx8, cmplx4, cmplx8, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_mul_cmplx8, cmplx4, cmplx8, 3 + 4 * I, 1 - 2 * I)
  UPDATE(cmplx4_div_cmplx8, cmplx4, cmplx8, 3 + 4 * I, 1 - 2 * I)
  extern void __kmpc_atomic_cmplx4_swp(void*, int, cmplx4*, cmplx4, cmplx4*);
  cmplx4 x = 1 + I, found = 0;
  __kmpc_atomic_cmplx4_swp(0, gtid, &x, 2 - I, &found);
  print("cmplx4_swp", &x, bytes);
  print("  captured", &found, bytes);
}

static int table(void) {
  INTEGER(1, int8_t, uint8_t, 100, -7)
  INTEGER(1, int8_t, uint8_t, -7, 100)
  INTEGER(2, int16_t, uint16_t, 30000, -7)
  INTEGER(2, int16_t, uint16_t, -7, 30000)
  INTEGER(4, int32_t, uint32_t, 2000000000, -7)
  INTEGER(4, int32_t, uint32_t, -7, 2000000000)
  INTEGER(8, int64_t, uint64_t, 9000000000000000000, -7)
  INTEGER(8, int64_t, uint64_t, -7, 9000000000000000000)
  REAL(float4, float, 4, 1.25f, -3.5f)
  REAL(float8, double, 8, 1.25, -3.5)
  REAL(float10, long double, 10, 1.25L, -3.5L) {
    const size_t bytes = 4;
    UPDATE(float4_add_float8, float, double, 1.25f, 0.1)
    UPDATE(float4_sub_float8, float, double, 1.25f, 0.1)
    UPDATE(float4_mul_float8, float, double, 1.25f, 0.1)
    UPDATE(float4_div_float8, float, double, 1.25f, 0.1)
  }
  table_of_complex();
  GENERIC(1)
  GENERIC(2)
  GENERIC(4)
  GENERIC(8)
  GENERIC(10)
  GENERIC(16)
  GENERIC(20)
  GENERIC(32)
  return 0;
}

enum { kTimes = 200 };
static int32_t sum4, most4 = -1;
static int64_t sum8, bits8;
static int16_t beside[4];
static float real4;
static double real8;
static long double real10;
static cmplx8 pair;
static long plain;

static int together(void) {
  extern void __kmpc_atomic_fixed4_add(void*, int, int32_t*, int32_t);
  extern int32_t __kmpc_atomic_fixed4_max_cpt(void*, int, int32_t*, int32_t, int);
  extern int64_t __kmpc_atomic_fixed8_sub_cpt(void*, int, int64_t*, int64_t, int);
  extern void __kmpc_atomic_fixed8_xor(void*, int, int64_t*, int64_t);
  extern void __kmpc_atomic_fixed2_add(void*, int, int16_t*, int16_t);
  extern void __kmpc_atomic_float4_add(void*, int, float*, float);
  extern void __kmpc_atomic_float8_add(void*, int, double*, double);
  extern void __kmpc_atomic_float10_add(void*, int, long double*, long double);
  extern void __kmpc_atomic_cmplx8_add(void*, int, cmplx8*, cmplx8);
  extern void __kmpc_atomic_start(void), __kmpc_atomic_end(void);
  int threads = 0;
#pragma omp parallel
  {
    int self = omp_get_thread_num();
    gtid = __kmpc_global_thread_num(0);
#pragma omp single
    threads = omp_get_num_threads();
    for (int i = 0; i < kTimes; i++) {
      __kmpc_atomic_fixed4_add(0, gtid, &sum4, 1);
      if (__kmpc_atomic_fixed4_max_cpt(0, gtid, &most4, self * kTimes + i, 1) < self * kTimes + i)
        puts("wrong: max");
      __kmpc_atomic_fixed8_sub_cpt(0, gtid, &sum8, 1, i % 2);
      __kmpc_atomic_fixed8_xor(0, gtid, &bits8, 1ll << self % 60);
      __kmpc_atomic_fixed2_add(0, gtid, &beside[self % 4], 1);
      __kmpc_atomic_float4_add(0, gtid, &real4, 1);
      __kmpc_atomic_float8_add(0, gtid, &real8, 0.5);
      __kmpc_atomic_float10_add(0, gtid, &real10, 0.25L);
      __kmpc_atomic_cmplx8_add(0, gtid, &pair, 1 - 2 * I);
      /* An instruction of the compiler's own, on the same word. */
#pragma omp atomic
      sum4 += 1;
      __kmpc_atomic_start();
      plain++;
      __kmpc_atomic_end();
    }
  }
  int all = threads * kTimes, sum2 = 0;
  for (int i = 0; i < 4; i++) sum2 += beside[i];
  int good = sum4 == 2 * all && most4 == all - 1 && sum8 == -all && bits8 == 0 && sum2 == all &&
             real4 == (float)all && real8 == 0.5 * all && real10 == 0.25L * all &&
             creal(pair) == all && cimag(pair) == -2 * all && plain == all;
  if (!good)
    printf("wrong: %d threads: %d %d %lld %llx %d %g %g %Lg %g %g %ld\n", threads, sum4, most4,
           (long long)sum8, (long long)bits8, sum2, real4, real8, real10, creal(pair), cimag(pair),
           plain);
  if (good) puts("good");
  return !good;
}

int main(int count, char** words) {
  gtid = __kmpc_global_thread_num(0);
  return count > 1 && strcmp(words[1], "table") == 0 ? table() : together();
}
