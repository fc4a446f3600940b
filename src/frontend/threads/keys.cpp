// Keys of thread-specific data: a key that the program makes is good on every node, its values are
// each thread's own. Those of the C library and of ours stay the C library's.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdlib>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {
namespace {

constexpr pthread_key_t kFirst = 1u << 20;  // far from the C library's
constexpr int kRounds = 4;                  // PTHREAD_DESTRUCTOR_ITERATIONS

struct Value {
  std::uint32_t generation;  // of the key that it was stored under
  void* value;
};

bool is_ours(pthread_key_t key) { return key - kFirst < kMostKeys && Program::get() != nullptr; }

Key& key_at(pthread_key_t key) { return Program::get()->control().keys[key - kFirst]; }

// The calling thread's values; nullptr: it has stored none, or there is no memory.
Value* values(bool make) {
  ThreadState& me = this_thread();
  if (me.values == nullptr && make) {
    Private ours;
    me.values = static_cast<void**>(std::calloc(kMostKeys, sizeof(Value)));
  }
  return reinterpret_cast<Value*>(me.values);
}

int make(pthread_key_t* out, void (*destructor)(void*)) {
  Control& control = Program::get()->control();
  Holding hold(&control.lock);
  for (std::uint32_t i = 0; i < kMostKeys; ++i) {
    Key& key = control.keys[i];
    if (key.in_use != 0) continue;
    key = {1, key.generation + 1, destructor};
    *out = kFirst + i;
    return 0;
  }
  return EAGAIN;
}

int drop(pthread_key_t key) {
  Control& control = Program::get()->control();
  Holding hold(&control.lock);
  if (key_at(key).in_use == 0) return EINVAL;
  key_at(key).in_use = 0;
  return 0;
}

void* get(pthread_key_t key) {
  Value* all = values(false);
  if (all == nullptr) return nullptr;
  const Value& value = all[key - kFirst];
  return value.value != nullptr && value.generation == key_at(key).generation ? value.value
                                                                              : nullptr;
}

int set(pthread_key_t key, const void* value) {
  if (key_at(key).in_use == 0) return EINVAL;
  Value* all = values(true);
  if (all == nullptr) return ENOMEM;
  all[key - kFirst] = {key_at(key).generation, const_cast<void*>(value)};
  return 0;
}

bool is_programs_call(const void* caller) {
  Program* program = Program::get();
  return program != nullptr && this_thread().record != nullptr && program->allocates_shared(caller);
}

}  // namespace

void destroy_values() {
  Value* all = values(false);
  if (all == nullptr) return;
  bool again = true;
  for (int round = 0; again && round < kRounds; ++round) {
    again = false;
    for (std::uint32_t i = 0; i < kMostKeys; ++i) {
      if (all[i].value == nullptr) continue;
      void* value = get(kFirst + i);
      all[i].value = nullptr;
      const Key& key = Program::get()->control().keys[i];
      if (value == nullptr || key.in_use == 0 || key.destructor == nullptr) continue;
      key.destructor(value);
      again = true;
    }
  }
  std::free(all);
  this_thread().values = nullptr;
}

}  // namespace terrane::frontend::threads

using namespace terrane::frontend::threads;
using terrane::frontend::next;

#pragma GCC visibility push(default)
extern "C" {

int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  if (is_programs_call(__builtin_return_address(0))) return make(key, destructor);
  return next<"pthread_key_create">(::pthread_key_create)(key, destructor);
}

int pthread_key_delete(pthread_key_t key) noexcept {
  if (is_ours(key)) return drop(key);
  return next<"pthread_key_delete">(::pthread_key_delete)(key);
}

void* pthread_getspecific(pthread_key_t key) noexcept {
  if (is_ours(key)) return get(key);
  return next<"pthread_getspecific">(::pthread_getspecific)(key);
}

int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  if (is_ours(key)) return set(key, value);
  return next<"pthread_setspecific">(::pthread_setspecific)(key, value);
}

int tss_create(tss_t* key, tss_dtor_t destructor) {
  if (is_programs_call(__builtin_return_address(0)))
    return make(key, destructor) == 0 ? thrd_success : thrd_error;
  return next<"tss_create">(::tss_create)(key, destructor);
}

void tss_delete(tss_t key) {
  if (!is_ours(key)) return next<"tss_delete">(::tss_delete)(key);
  drop(key);
}

void* tss_get(tss_t key) { return is_ours(key) ? get(key) : next<"tss_get">(::tss_get)(key); }

int tss_set(tss_t key, void* value) {
  if (!is_ours(key)) return next<"tss_set">(::tss_set)(key, value);
  return set(key, value) == 0 ? thrd_success : thrd_error;
}

}  // extern "C"
#pragma GCC visibility pop
