#pragma once

#include <string>

namespace terrane::frontend::shmem {

// Where the program made the call that is being served, for the end of a sentence: " (at
// file.c:12)" where debugging information tells, else " (at PROGRAM+0x1234)"; empty unless calls
// are checked. Slow: for a process that is about to end.
std::string place_of_call();

}  // namespace terrane::frontend::shmem
