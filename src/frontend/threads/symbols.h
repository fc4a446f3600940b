#pragma once

#include <link.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Names of places in the program and its libraries, from their files on this node. On private
// memory alone: for a thread on its own stack (runtime/program/own_stack.h).
namespace terrane::frontend::threads {

// Where an instruction comes from: "file.c:12", by the debug information that addr2line(1) reads,
// which is looked for in the folders of `search_path` (as PATH has them). Without either the
// function's name, and how far the instruction lies in it: "main._omp_fn.0+0x4"; or else the file
// and the address in it.
std::string place_of_code(std::uintptr_t at, const std::string& search_path);
// Whether an instruction comes from a line of the source that says "atomic", or from the one behind
// it, or from a header of that name, as far as that can be read.
bool source_says_atomic(std::uintptr_t at, const std::string& search_path);
// The variable of the program or of a library that holds the byte: "u+0x1000". Empty: none does.
std::string variable_at(std::uintptr_t at);
// The variables of the file that is loaded there that have bytes in [at, at + bytes), in a few
// words by their addresses: "u+0x1000", "a, b and 7 more". Empty: there is none.
std::string variables_in(std::uintptr_t at, std::size_t bytes);
// Whether the program's own file defines a function of that name, and does not only take its
// address. Programs that are not position-independent have a place for each function of a library
// whose address they take.
bool program_defines(std::string_view function);
// The functions of libraries for which the program has such a place, with their indices in its
// table of symbols.
std::vector<std::pair<std::size_t, std::string>> program_stubs();
// The line of a call that place_of_call() has named ("program:0x401136"); else the same again.
std::string line_of_call(const std::string& place, const std::string& search_path);

// Where an instruction of a loaded file lies. Cut where it is too long.
struct CodePlace {
  std::uintptr_t offset = 0;  // in the file; 0: no file has an instruction there
  char path[1024] = {};       // of the file
  char function[128] = {};    // empty: it is not known
  std::uintptr_t inside = 0;  // from the function's beginning

  const char* file() const;  // the path's last part
};
// Async-signal-safe.
CodePlace loaded_place(std::uintptr_t at);

}  // namespace terrane::frontend::threads
