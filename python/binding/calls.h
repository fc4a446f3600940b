#pragma once

#include <nanobind/nanobind.h>
#include <terrane/pages.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pyterrane {

// Raises what a failed call of the C interface has said: MemoryError, ValueError or RuntimeError.
[[noreturn]] void raise_error(int status);

// While it lives the calling thread is in a wait that no signal ends (interrupts.cpp).
class WaitToTheEnd {
 public:
  WaitToTheEnd();
  ~WaitToTheEnd();
  WaitToTheEnd(const WaitToTheEnd&) = delete;

 private:
  bool counts_;  // of the main thread alone
};

// A call that may wait for other nodes: other threads of Python run meanwhile.
template <typename Call>
void wait_in(Call call) {
  int status;
  {
    nanobind::gil_scoped_release others;
    WaitToTheEnd wait;
    status = call();
  }
  if (status < 0) raise_error(status);
}

// A wait with a time limit: `call` takes nanoseconds. Ends with false after `timeout_ns` (negative:
// there is no limit), and with KeyboardInterrupt or what else a signal's handler raises. `report`
// is called ten times a second meanwhile.
template <typename Call, typename Report = void (*)()>
bool wait_for(
    std::int64_t timeout_ns, Call call, Report report = [] {}) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::nanoseconds kSlice{100'000'000};  // how late a handler runs
  auto end = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  for (;;) {
    auto left = timeout_ns < 0 ? kSlice : std::chrono::nanoseconds(end - Clock::now());
    auto slice = std::clamp(left, std::chrono::nanoseconds(0), kSlice);
    int status;
    {
      nanobind::gil_scoped_release others;
      status = call(static_cast<std::uint64_t>(slice.count()));
    }
    if (status == TERRANE_OK) return true;
    if (status != TERRANE_ETIMEDOUT) raise_error(status);
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (timeout_ns >= 0 && Clock::now() >= end) return false;
    report();
  }
}

// Chunks: joined after the pages, and left before them.
void join_chunks();
void leave_chunks();

void add_chunks(nanobind::module_& module);
void add_interrupts(nanobind::module_& module);
void add_memory(nanobind::module_& module);
void add_recordings(nanobind::module_& module);
void add_waits(nanobind::module_& module);

}  // namespace pyterrane
