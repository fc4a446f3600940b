// Compiled for general registers alone: the program's numbers are in the others.
#include "frontend/interpose/shared_range.h"
#include "frontend/threads/locked_code.h"
#include "runtime/synchronisation_map.h"

namespace terrane::frontend::threads {
namespace {

const runtime::SynchronisationMap* pages = nullptr;  // of this node; nullptr before it has any

}  // namespace

void serve_words_beside(const runtime::SynchronisationMap& served) { pages = &served; }

bool is_served_word(std::uintptr_t address) {
  return SharedRange::contains(reinterpret_cast<const void*>(address)) &&
         (pages == nullptr || !pages->contains(address));
}

}  // namespace terrane::frontend::threads
