#pragma once

#include <pthread.h>

#include <cstddef>

// The stacks that the C library gives the program's threads, with their thread-local variables at
// the top, lie where no other node has memory: a pointer to a thread-local variable that a thread
// of another node uses ends the program with a sentence, and finds nothing else. Any thread.
namespace terrane::frontend::threads::private_stacks {

// Of a stack: 1 MiB, and the program's thread-local variables as it started with them.
std::size_t bytes();
// nullptr: there is no memory. The stack is the caller's until gave_back().
void* take();
// The thread, which runs on the stack and is joinable, is about to end: it serves again then.
void give_back(pthread_t thread, void* stack);
// Nothing has run on it.
void give_back(void* stack);

}  // namespace terrane::frontend::threads::private_stacks
