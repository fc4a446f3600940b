#pragma once

#include <link.h>

#include <cstdint>
#include <string>

// Names of places in the program and its libraries, from their files on this node. On private
// memory alone: for a thread on its own stack (runtime/program/own_stack.h).
namespace terrane::frontend::threads {

// Where an instruction comes from: "file.c:12", by the debug information that addr2line(1) reads,
// which is looked for in the folders of `search_path` (as PATH has them). Without either the
// function's name, and how far the instruction lies in it: "main._omp_fn.0+0x4"; or else the file
// and the address in it.
std::string place_of_code(std::uintptr_t at, const std::string& search_path);
// The variable of the program or of a library that holds the byte: "u+0x1000". Empty: none does.
std::string variable_at(std::uintptr_t at);
// The line of a call that place_of_call() has named ("program:0x401136"); else the same again.
std::string line_of_call(const std::string& place, const std::string& search_path);

// Where an instruction of a loaded file lies. Cut where it is too long.
struct CodePlace {
  char path[1024] = {};       // of the file
  char function[128] = {};    // empty: it is not known
  std::uintptr_t inside = 0;  // from the function's beginning
};
// Async-signal-safe.
CodePlace place_in_file(const link_map& map, std::uintptr_t at);

}  // namespace terrane::frontend::threads
