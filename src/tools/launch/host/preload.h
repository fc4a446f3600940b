#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace terrane::tools {

// Whether a node has libterrane in front of the C library by LD_PRELOAD, as its linker would have
// put it there. kAutomatic: where the program looks as if it loaded the library by itself.
// kThreads: libterrane_threads, which makes all of the program's memory shared. kOmp: the same, and
// our libgomp behind it, and what stands for other compilers' libraries.
enum class Preload : std::uint8_t { kAutomatic, kAlways, kNever, kThreads, kOmp, kLast = kOmp };

// Whether the program's threads run on many nodes.
constexpr bool shares_program(Preload how) {
  return how == Preload::kThreads || how == Preload::kOmp;
}

// A program as its file tells it.
struct ProgramFile {
  std::string path;           // of the file that the kernel executes: a script's interpreter
  bool is_dynamic = false;    // linked dynamically, for 64 bits
  bool loads = false;         // may load libraries while it runs (dlopen), and is no shell
  bool has_terrane = false;   // linked with a library of Terrane
  bool has_first = false;     // linked with a library that must come first (a sanitizer's)
  std::string run_time;       // "Go" or "Java": it makes threads, and moves memory, by itself
  std::string own_openmp;     // "gcc's" or "LLVM's": the OpenMP library that is linked into it
  bool needs_openmp = false;  // linked with an OpenMP library that is a file of its own
  bool has_own_path = false;  // has libraries of its own (DT_RPATH, DT_RUNPATH)
  std::string own_path;       // DT_RPATH and DT_RUNPATH, as they are in the file
  std::vector<std::string> terrane_libraries;  // DT_NEEDED of them: libterrane.so.0, ...
};

// Reads the headers of an ELF file, or of the interpreter that a script's first line names.
// `search_path`: where env(1) would look for it. What cannot be read is not dynamic.
ProgramFile read_program(const std::string& path, const std::string& search_path);

// Whether the node is to have the library.
bool wants_preload(const ProgramFile& program, Preload how);

// What keeps a node from having it: a sentence; empty: nothing.
std::string why_no_preload(Preload how);

// The library's file beside this command, as it lies when it is installed or built; of several, a
// list for LD_PRELOAD. Empty: it is not there.
std::string library_beside_command(Preload how);

// The real path of a file in the library folder of the installation that this command belongs to;
// `file` begins with a slash. Empty: it is not there.
std::string installed_library(const char* file);

}  // namespace terrane::tools
