#pragma once

#include <cerrno>
#include <cstring>

#include "frontend/interpose/shared_range.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {

// Runs call.run() in a thread of the program on that node: `call`, or a copy of it where it is not
// in shared memory. Call: plain data. May end early, as run_interruptibly_on does. False: errno.
template <typename Call>
bool call_on_node(std::uint32_t node, Call& call) {
  Program& program = *Program::get();
  Call* there = &call;
  bool is_copy = !SharedRange::contains(there);
  if (is_copy) {
    there = static_cast<Call*>(program.heap().allocate(sizeof(Call)));
    if (there == nullptr) {
      errno = ENOMEM;
      return false;
    }
    std::memcpy(static_cast<void*>(there), &call, sizeof(Call));
  }
  int error = run_interruptibly_on(
      node,
      [](void* raw) -> void* {
        static_cast<Call*>(raw)->run();
        return nullptr;
      },
      there);
  if (is_copy) {
    std::memcpy(static_cast<void*>(&call), there, sizeof(Call));
    program.heap().free(there);
  }
  if (error != 0) errno = error;
  return error == 0;
}

}  // namespace terrane::frontend::threads
