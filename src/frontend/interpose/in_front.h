#pragma once

#include <string>

namespace terrane::frontend {

// Where the program finds the C library's own functions and not those of this library (which it
// has loaded by dlopen): the file of this library. Empty: ours come first, or another library's do
// that hands on to them.
std::string library_behind_libc();

// Whether this process is the program that `terrane run` or `terrane threads` has put the library
// in front of, and not what runs before it, such as env(1). From the first constructor on.
bool is_in_front_of_program();

}  // namespace terrane::frontend
