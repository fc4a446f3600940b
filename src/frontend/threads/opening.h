#pragma once

#include <cstdint>

// Libraries that the program opens after the start (dlopen): each node loads them at the same
// addresses, and their data are shared as those of the program are. Their constructors run when all
// nodes have them, on node 0.
namespace terrane::frontend::threads {

// Makes ready for it. Every node, before the program starts.
void prepare_opening();
// As dlopen of a call from `caller`, on all nodes. The handle is good on all of them. nullptr: the
// C library's dlerror says why.
void* open_everywhere(const char* file, int mode, const void* caller);
// This node's handle for one that open_everywhere() has returned; another one stays as it is.
void* own_handle(void* handle);
// Whether open_everywhere() has returned it.
bool was_opened_everywhere(void* handle);
// Whether the calling thread is in the loader, in open_everywhere().
bool is_loading();

// Of the program's start, in start.cpp.
struct Arguments {
  int count;
  char** list;
};
Arguments arguments_of_main();

}  // namespace terrane::frontend::threads
