#pragma once

// The environment of a program that names environ: one list for all nodes, in shared memory, which
// no C library makes. Those of newer versions keep lists of their own, in private memory.
namespace terrane::frontend::threads {

// Whether the list's address lies in the program's own data, and so in shared memory.
bool names_environment();
// As setenv and unsetenv (no value) of such a program. -1 and errno: it cannot be done.
int set_named(const char* name, const char* value, int overwrites);
// As putenv: the text itself becomes part of the list.
int put_named(char* text);

}  // namespace terrane::frontend::threads
