// What the main program of Fortran tells its library at its start, the arguments and the options
// that it was compiled with: the library of every node is to know it.
#include <dlfcn.h>

#include <tuple>

#include "frontend/interpose/elsewhere.h"
#include "frontend/threads/program.h"

namespace {

using terrane::frontend::Elsewhere;
using namespace terrane::frontend::threads;

// The function behind ours on every node. What the arguments point to is shared memory, as the
// stack of main is.
template <typename... Arguments>
void tell(const char* name, Arguments... arguments) {
  struct Told {
    void (*function)(Arguments...);
    std::tuple<Arguments...> arguments;
  } told{reinterpret_cast<void (*)(Arguments...)>(::dlsym(RTLD_NEXT, name)), {arguments...}};
  std::apply(told.function, told.arguments);
  if (Elsewhere::get() == nullptr || !is_in_program()) return;
  run_on_others(
      [](void* raw) -> void* {
        auto& one = *static_cast<Told*>(raw);
        std::apply(one.function, one.arguments);
        return nullptr;
      },
      &told);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_set_args(int count, char** arguments) noexcept {
  tell("_gfortran_set_args", count, arguments);
}
void _gfortran_set_options(int count, int* options) noexcept {
  tell("_gfortran_set_options", count, options);
}
void _gfortran_set_convert(int how) noexcept { tell("_gfortran_set_convert", how); }
void _gfortran_set_record_marker(int bytes) noexcept { tell("_gfortran_set_record_marker", bytes); }
void _gfortran_set_max_subrecord_length(int bytes) noexcept {
  tell("_gfortran_set_max_subrecord_length", bytes);
}
void _gfortran_set_fpe(int exceptions) noexcept { tell("_gfortran_set_fpe", exceptions); }

}  // extern "C"
#pragma GCC visibility pop
