#include "frontend/omp/events.h"

#include <cstdlib>

#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

// The first counter gives out the numbers of the others.
constexpr std::uint32_t kNumbers = 3u << 24;

// Events that the calling thread has used before.
struct Used {
  Event event;
  Used* next;
};
thread_local Used* used = nullptr;
// The counter of all events of the calling thread that were fulfilled, and what it was last.
thread_local std::uint32_t own_counter = 0;
thread_local std::int64_t last_seen = 0;

std::uint32_t next_number() {
  return kNumbers + 1 + static_cast<std::uint32_t>(terrane_program_add(kNumbers, 1));
}

Event unused_event() {
  if (used == nullptr) return {next_number(), 1};
  Used* first = used;
  Event event = first->event;
  used = first->next;
  std::free(first);
  return event;
}

// Both numbers of a handle: the event's, and that of all events of its thread.
void fulfil(std::uint64_t handle) {
  auto number = static_cast<std::uint32_t>(handle);
  auto owner = static_cast<std::uint32_t>(handle >> 32);
  if (number <= kNumbers || owner <= kNumbers)
    terrane_program_fail("omp_fulfill_event: the argument is no event of a task with detach");
  terrane_program_add(number, 1);
  terrane_program_add(owner, 1);
}

}  // namespace

Event make_event(std::uint64_t& handle) {
  if (own_counter == 0) own_counter = next_number();
  Event event = unused_event();
  handle = std::uint64_t{own_counter} << 32 | event.number;
  return event;
}

void give_back(const Event& event) {
  auto* kept = static_cast<Used*>(std::malloc(sizeof(Used)));
  if (kept == nullptr) return;
  *kept = {{event.number, event.awaited + 1}, used};
  used = kept;
}

bool is_fulfilled(const Event& event) {
  if (terrane_program_add(event.number, 0) < event.awaited) return false;
  terrane_program_await(event.number, event.awaited);
  return true;
}

bool may_have_fulfilled() {
  std::int64_t now = terrane_program_add(own_counter, 0);
  bool is_new = now != last_seen;
  last_seen = now;
  return is_new;
}

void await_fulfilment() { terrane_program_await(own_counter, last_seen + 1); }

}  // namespace terrane::frontend::omp

extern "C" {

void omp_fulfill_event(std::uintptr_t event) { terrane::frontend::omp::fulfil(event); }

// The module omp_lib passes the event itself; the file omp_lib.h declares no interface, so that the
// address of the event comes, which no handle equals: its upper half is no counter's number.
void omp_fulfill_event_(std::uintptr_t event) {
  using terrane::frontend::omp::kNumbers;
  bool is_address = event >> 32 <= kNumbers;
  if (is_address && event != 0) event = *reinterpret_cast<const std::uintptr_t*>(event);
  terrane::frontend::omp::fulfil(event);
}

}  // extern "C"
