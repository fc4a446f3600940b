#pragma once

#include <cstddef>
#include <cstdint>

#include "frontend/threads/for_teams.h"
#include "frontend/threads/program.h"

// What a library of teams gets before the program's start, while the loader runs constructors of
// libraries: the process has one thread then, and neither a job nor shared memory.
namespace terrane::frontend::threads {

inline bool is_before_start() { return Program::get() == nullptr; }

namespace before_start {

terrane_program_locked lock(const void* address);
bool unlock(const void* address);
std::int64_t add(std::uint32_t counter, std::int64_t amount);
// Ends the process where the counter is smaller: no other thread could change it.
void await(std::uint32_t counter, std::int64_t at_least);
void* pages(std::size_t bytes);
void give_pages(void* memory);
[[noreturn]] void fail(const char* sentence);

}  // namespace before_start
}  // namespace terrane::frontend::threads
