#pragma once

namespace terrane::frontend {

// For a program that has loaded this library behind the C library (in_front.h): binds the imports
// of all its modules to the functions of this library, and those of modules that it opens later. As
// if the library had been preloaded, but for what the C library calls itself. Any thread, once.
void come_to_the_front();

}  // namespace terrane::frontend
