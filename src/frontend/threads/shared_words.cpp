// Compiled for general registers alone: the program's numbers are in the others.
#include "frontend/interpose/shared_range.h"
#include "frontend/threads/locked_code.h"

namespace terrane::frontend::threads {

bool is_shared_word(std::uintptr_t address) {
  return SharedRange::contains(reinterpret_cast<const void*>(address));
}

}  // namespace terrane::frontend::threads
