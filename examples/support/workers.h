#pragma once

#include <cstdint>
#include <functional>

namespace example {

// Runs work(0) in the calling thread and work(1) .. work(threads - 1) in threads of their own, and
// returns when all have.
void run_threads(std::uint32_t threads, const std::function<void(std::uint32_t)>& work);

// All threads of all nodes wait here, `threads_here` of this node. Ends the process where the
// barrier cannot be entered: its memory is no longer coherent, there is nothing to go on with.
void workers_barrier(std::uint32_t threads_here);

}  // namespace example
