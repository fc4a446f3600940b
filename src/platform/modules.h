#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace terrane::platform {

// Whole pages that a module may write while the program runs: its data without what is made
// read-only after relocation.
struct WritablePages {
  std::uintptr_t begin = 0;
  std::uintptr_t file_end = 0;  // from here on nothing was in the file: zeros at start
  std::uintptr_t end = 0;
  int protection = 0;  // as mmap takes it
};

// Where a module has code.
struct CodePages {
  std::uintptr_t begin = 0, end = 0;
};

// A file that the loader has mapped: the program, or a shared library.
struct Module {
  std::string path;            // as the loader has it; empty for the program
  std::string name;            // the path without its folder
  std::uint64_t identity = 0;  // equal for copies of one file, other for other files
  std::vector<WritablePages> writable;
  std::uintptr_t address = 0;  // what the loader has added to the file's addresses
  std::vector<CodePages> code;
  std::string soname;               // by which others need it (DT_SONAME); empty: its file's name
  std::vector<std::string> needed;  // DT_NEEDED
  // What it can write of its data after relocation, without the loader's table of functions.
  std::size_t state_bytes = 0;
};

// Whether a module keeps nothing between calls: it has no data of its own to keep it in, but for
// the words that compilers put into every library.
bool keeps_nothing(const Module& module);

// All that are loaded now, in the loader's order: the program first.
std::vector<Module> loaded_modules();

// Grows with every module that was ever loaded.
std::uint64_t modules_ever_loaded();

}  // namespace terrane::platform
