#pragma once

#include <string>

namespace terrane::frontend {

// Where the program finds the C library's own functions and not those of this library (which it
// has loaded by dlopen): the file of this library. Empty: ours come first, or another library's do
// that hands on to them.
std::string library_behind_libc();

}  // namespace terrane::frontend
