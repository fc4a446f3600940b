#pragma once

#include <pthread.h>

// Threads that constructors of libraries start before the program's start, when nothing is shared
// yet. Each waits until the start, and is then a thread of the program like any other. One that a
// constructor joins begins at once, as a thread of its node alone; so does the newest, then the one
// before it, where a constructor waits in another way. If it still runs when the program starts, a
// sentence says so.
namespace terrane::frontend::threads {

// Whether this process is to be the program, and runs constructors of libraries.
bool is_before_program();

// pthread_create before the start. *thread is good for all functions of threads, before and after.
// `caller`: in whose code it is called. A library that each node has for itself keeps its threads.
int create_early(const void* caller, pthread_t* thread, const pthread_attr_t* attributes,
                 void* (*function)(void*), void* argument);
// Around a wait for the end of a thread before the start: if it is one of these, it begins.
class EarlyJoin {
 public:
  explicit EarlyJoin(pthread_t thread);
  ~EarlyJoin();
  EarlyJoin(const EarlyJoin&) = delete;
};
// Constructors have ended: no waiting thread begins by itself any more. By the first thread.
void end_early_threads();
// Makes those that wait threads of the program; on other nodes than 0 they end. By main's thread on
// node 0, by the first thread elsewhere, once.
void adopt_early_threads();

}  // namespace terrane::frontend::threads
