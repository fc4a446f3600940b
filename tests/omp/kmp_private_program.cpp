// Threadprivate variables of a compiler without thread-local ones: clang -fnoopenmp-use-tls.
#include <omp.h>

#include <cstdio>

extern "C" {
void* __kmpc_threadprivate(void*, int, void*, unsigned long);
void __kmpc_threadprivate_register_vec(void*, void*, void* (*)(void*, unsigned long),
                                       void* (*)(void*, void*, unsigned long),
                                       void (*)(void*, unsigned long), unsigned long);
int __kmpc_global_thread_num(void*);
}

namespace {

int wrong = 0;

void check(bool right, const char* what) {
  if (right) return;
  wrong = 1;
  std::printf("wrong: %s\n", what);
}

struct Counter {
  int value, own;
  Counter() : value(40), own(2) {}
  int sum() const { return value + own; }
};

Counter counter;
#pragma omp threadprivate(counter)

int plain = 11;
#pragma omp threadprivate(plain)

void constructed() {
  counter.value = 1;
  plain = 5;
  int sums = 0, plains = 0, threads = 0;
#pragma omp parallel reduction(+ : sums, plains, threads)
  {
    bool is_main = omp_get_thread_num() == 0;
    sums += counter.sum() == (is_main ? 3 : 42);
    plains += plain == (is_main ? 5 : 11);
    counter.own += omp_get_thread_num();
    plain = omp_get_thread_num();
    ++threads;
  }
  check(sums == threads, "a threadprivate variable with a constructor");
  check(plains == threads, "a threadprivate variable");
  int kept = 0;
#pragma omp parallel reduction(+ : kept)
  kept += plain == omp_get_thread_num() && counter.own == 2 + omp_get_thread_num();
  check(kept == threads, "values between regions");
  plain = 23;
  int copied = 0;
#pragma omp parallel copyin(plain) reduction(+ : copied)
  copied += plain == 23;
  check(copied == threads, "copyin");
}

int table[3] = {7, 8, 9}, other = 31;

void* begin_table(void* memory, unsigned long count) {
  for (unsigned long i = 0; i < count; ++i)
    static_cast<int*>(memory)[i] = 100 + static_cast<int>(i);
  return memory;
}

// What Intel's compilers call.
void by_calls() {
  __kmpc_threadprivate_register_vec(nullptr, table, begin_table, nullptr, nullptr, 3);
  int good = 0, threads = 0;
#pragma omp parallel reduction(+ : good, threads)
  {
    int thread = __kmpc_global_thread_num(nullptr);
    auto* own = static_cast<int*>(__kmpc_threadprivate(nullptr, thread, table, sizeof table));
    auto* number = static_cast<int*>(__kmpc_threadprivate(nullptr, thread, &other, sizeof other));
    bool is_main = omp_get_thread_num() == 0;
    good += own[2] == (is_main ? 9 : 102) && *number == 31 && (own == table) == is_main;
    ++threads;
  }
  check(good == threads, "threadprivate variables by calls");
}

}  // namespace

int main() {
  constructed();
  by_calls();
  if (wrong == 0) std::printf("good\n");
  return wrong;
}
