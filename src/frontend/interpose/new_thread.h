#pragma once

#include <pthread.h>

namespace terrane::frontend {

// A thread of this process, which serves faults from its begin: pthread_create as programs see it.
int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) noexcept;

}  // namespace terrane::frontend
