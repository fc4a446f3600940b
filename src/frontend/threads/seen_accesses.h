#pragma once

#include "base/result.h"
#include "patch/elf_code.h"
#include "runtime/access_keeper.h"

// What the program's instructions read and write in shared memory, with --check=races=reads. A trap
// in front of each instruction tells it (patch/accesses.h), so many times that the program goes on:
// a trap that was met often enough is taken away until the thread's node releases something. What
// comes meanwhile is not seen.
namespace terrane::frontend::threads {

// Whether the launcher has asked for it.
bool sees_accesses();
// Puts the traps in a file that the loader has mapped, having added `bias` to its addresses. No
// thread may run its code meanwhile.
base::Result<> see_accesses(const patch::ElfCode& file, std::uint64_t bias,
                            const std::string& name);
// Where a trap leads; 0: it is none of these. In signal handlers, any thread.
std::uintptr_t trampoline_of_access(std::uintptr_t site);

// From now on accesses are seen. Once.
runtime::AccessSource seen_accesses();

}  // namespace terrane::frontend::threads
