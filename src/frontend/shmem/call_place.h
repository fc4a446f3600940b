#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrane::frontend::shmem {

// Where the program made the call that is being served, for the end of a sentence: " (at
// file.c:12)" where debugging information tells, else " (at PROGRAM+0x1234)"; empty unless calls
// are checked. Slow: for a process that is about to end.
std::string place_of_call();

// An instruction of the program or of one of its libraries.
struct Spot {
  std::string file;           // empty: not known
  std::uintptr_t offset = 0;  // as addr2line counts
};

// Where the program made the call that this thread is in.
Spot spot_of_call();

// The lines of the program at these spots, such as "file.c:12", or "program+0x1234" without debug
// information; empty where a spot is not known. One command for each file.
std::vector<std::string> lines_of(std::span<const Spot> spots);

}  // namespace terrane::frontend::shmem
