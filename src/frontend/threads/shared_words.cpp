// Compiled for general registers alone: the program's numbers are in the others.
#include <cstdio>

#include "frontend/interpose/shared_range.h"
#include "frontend/threads/locked_code.h"
#include "runtime/synchronisation_map.h"

namespace terrane::frontend::threads {
namespace {

const runtime::SynchronisationMap* pages = nullptr;  // of this node; nullptr before it has any

const std::FILE* output = nullptr;  // what it holds goes out before other threads can see a change

bool holds_text() { return output != nullptr && output->_IO_write_ptr != output->_IO_write_base; }

}  // namespace

void send_before_atomics(const std::FILE* stream) { output = stream; }

void serve_words_beside(const runtime::SynchronisationMap& served) { pages = &served; }

bool is_unserved_word(std::uintptr_t address) {
  return SharedRange::contains(reinterpret_cast<const void*>(address)) &&
         (pages == nullptr || !pages->contains(address));
}

bool is_served_word(std::uintptr_t address) {
  return SharedRange::contains(reinterpret_cast<const void*>(address)) &&
         (pages == nullptr || !pages->contains(address) || holds_text());
}

}  // namespace terrane::frontend::threads
