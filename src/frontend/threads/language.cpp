// What the compiler and the C++ library call by themselves: guards of static variables in
// functions, and how many processors there are.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/program.h"

using namespace terrane::frontend::threads;
using namespace terrane::frontend::pages;
using terrane::frontend::next;

namespace {

// A place for each thread that the program is to have.
int processors(int here) {
  Program* program = Program::get();
  bool asks = program != nullptr && is_in_program();
  return asks ? static_cast<int>(program->control().slots) : here;
}

terrane::LockId id_of_guard(const std::int64_t* guard) { return id_of(ObjectKind::kOnce, guard); }

bool is_done(const std::int64_t* guard) {
  return *reinterpret_cast<const volatile char*>(guard) != 0;
}

}  // namespace

extern "C" {
int __cxa_guard_acquire(std::int64_t*);
void __cxa_guard_release(std::int64_t*) noexcept;
void __cxa_guard_abort(std::int64_t*) noexcept;
}

#pragma GCC visibility push(default)
extern "C" {

int __cxa_guard_acquire(std::int64_t* guard) {
  if (!is_shared(guard)) return next<"__cxa_guard_acquire">(::__cxa_guard_acquire)(guard);
  if (is_done(guard)) return 0;
  if (node()->lock_until(id_of_guard(guard), kForEver) == LockResult::kHeldAlready) {
    terrane::base::log("the initialiser of a static variable of a function calls that function");
    std::abort();
  }
  if (!is_done(guard)) return 1;
  node()->unlock_held(id_of_guard(guard));
  return 0;
}

void __cxa_guard_release(std::int64_t* guard) noexcept {
  if (!is_shared(guard)) return next<"__cxa_guard_release">(::__cxa_guard_release)(guard);
  *reinterpret_cast<volatile char*>(guard) = 1;
  node()->unlock_held(id_of_guard(guard));
}

void __cxa_guard_abort(std::int64_t* guard) noexcept {
  if (!is_shared(guard)) return next<"__cxa_guard_abort">(::__cxa_guard_abort)(guard);
  node()->unlock_held(id_of_guard(guard));
}

int get_nprocs(void) noexcept { return processors(next<"get_nprocs">(::get_nprocs)()); }

int get_nprocs_conf(void) noexcept {
  return processors(next<"get_nprocs_conf">(::get_nprocs_conf)());
}

long sysconf(int name) noexcept {
  if (name == _SC_OPEN_MAX) return ::getdtablesize();
  long here = next<"sysconf">(::sysconf)(name);
  bool processors_asked = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
  return processors_asked ? processors(static_cast<int>(here)) : here;
}

}  // extern "C"
#pragma GCC visibility pop
