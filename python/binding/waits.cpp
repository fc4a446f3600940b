// Locks, barriers, counters, flags and semaphores. Each call lets other threads of Python run while
// it waits.
#include <nanobind/nanobind.h>
#include <terrane/pages.h>

#include <cstdint>

#include "calls.h"

namespace nb = nanobind;

namespace pyterrane {
namespace {

// A barrier to which each node gives the bytes of `in`, `count` values of 8 bytes; gives those of
// all nodes, combined.
nb::bytes reduce(std::uint32_t barrier, int op, int type, nb::bytes in) {
  constexpr std::size_t kValueBytes = 8, kMostValues = 1024;
  std::size_t count = in.size() / kValueBytes;
  if (count == 0 || count > kMostValues || in.size() % kValueBytes != 0)
    throw nb::value_error("reduce: 1 to 1024 values of 8 bytes");
  std::uint64_t out[kMostValues];
  wait_in([&] {
    return terrane_barrier_reduce(barrier, 1, static_cast<terrane_reduce_op>(op),
                                  static_cast<terrane_type>(type), in.data(), out, count);
  });
  return nb::bytes(out, in.size());
}

std::int64_t counter_fetch(std::uint32_t counter, int op, std::int64_t operand) {
  std::int64_t before = 0;
  wait_in([&] {
    return terrane_counter_fetch(counter, static_cast<terrane_counter_op>(op), operand, &before);
  });
  return before;
}

}  // namespace

void add_waits(nb::module_& module) {
  module.def("lock", [](std::uint32_t lock) { wait_in([=] { return terrane_lock(lock); }); });
  module.def("lock_for", [](std::uint32_t lock, std::int64_t timeout_ns) {
    return wait_for(timeout_ns, [=](std::uint64_t ns) { return terrane_lock_for(lock, ns); });
  });
  module.def("unlock", [](std::uint32_t lock) { wait_in([=] { return terrane_unlock(lock); }); });
  module.def("barrier", [] { wait_in([] { return terrane_barrier(); }); });
  module.def("reduce", &reduce);
  module.def("counter_fetch", &counter_fetch);
  module.def("counter_wait_for",
             [](std::uint32_t counter, std::int64_t at_least, std::int64_t timeout_ns) {
               return wait_for(timeout_ns, [=](std::uint64_t ns) {
                 return terrane_counter_wait_for(counter, at_least, ns);
               });
             });
  module.def("flag_set",
             [](std::uint32_t flag) { wait_in([=] { return terrane_flag_set(flag); }); });
  module.def("flag_clear",
             [](std::uint32_t flag) { wait_in([=] { return terrane_flag_clear(flag); }); });
  module.def("flag_wait",
             [](std::uint32_t flag) { wait_in([=] { return terrane_flag_wait(flag); }); });
  module.def("semaphore_post", [](std::uint32_t semaphore, std::uint32_t units) {
    wait_in([=] { return terrane_semaphore_post(semaphore, units); });
  });
  module.def("flag_wait_for", [](std::uint32_t flag, std::int64_t timeout_ns) {
    return wait_for(timeout_ns, [=](std::uint64_t ns) { return terrane_flag_wait_for(flag, ns); });
  });
  module.def("semaphore_wait_for", [](std::uint32_t semaphore, std::int64_t timeout_ns) {
    return wait_for(timeout_ns,
                    [=](std::uint64_t ns) { return terrane_semaphore_wait_for(semaphore, ns); });
  });
}

}  // namespace pyterrane
