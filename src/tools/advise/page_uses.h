#pragma once

#include <cstdint>
#include <string>

#include "tools/advise/recorded_program.h"

namespace terrane::tools::advise {

// How the nodes that recorded a program use one of its pages.
struct PageUses {
  std::uint32_t readers = 0, writers = 0;  // nodes; a writer is no reader
  std::uint64_t writes = 0;                // differences
  bool overlap = false;                    // several nodes write the same bytes of it
  std::uint32_t writer = 0;                // one of those nodes
};

PageUses uses_of(const RecordedProgram& program, std::uint64_t page);
// "4 nodes write different parts of a page", and what helps.
std::string text_of(const PageUses& uses);
std::string remedy_of(const PageUses& uses);

}  // namespace terrane::tools::advise
