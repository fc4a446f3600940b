#pragma once

#include <cstdint>

// Events of tasks with the clause detach. An event is a counter of the job, which grows by one when
// the event is fulfilled; a second one tells the thread that has made the event that one of its
// events was. A handle holds the numbers of both, so any thread of any node can fulfil it.
namespace terrane::frontend::omp {

struct Event {
  std::uint32_t number = 0;  // 0: none
  std::int64_t awaited = 0;  // what its counter is when it is fulfilled
};

// An event of the calling thread, and its handle.
Event make_event(std::uint64_t& handle);
// It has been fulfilled, and its counter serves the next one.
void give_back(const Event& event);
// Whether it is fulfilled: what the fulfilling thread wrote before is seen.
bool is_fulfilled(const Event& event);

// Whether an event of the calling thread may have been fulfilled since the last such call.
bool may_have_fulfilled();
// Waits until that is so.
void await_fulfilment();

}  // namespace terrane::frontend::omp
