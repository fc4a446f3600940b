#include "frontend/omp/binding.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "frontend/omp/api.h"
#include "frontend/omp/job_team.h"
#include "frontend/omp/settings.h"
#include "frontend/threads/for_teams.h"

extern "C" void omp_display_affinity(const char* text);

namespace terrane::frontend::omp {
namespace {

// In shared memory: what a node may use, and its places, made of that.
struct Shared {
  cpu_set_t usable;
  std::uint32_t count;
  cpu_set_t places[CPU_SETSIZE];
};

Shared* shared = nullptr;  // of all nodes, by node; nullptr: nobody has asked for places
bool has_shared = false;

thread_local Seat seat = {};
thread_local bool has_seat = false;
thread_local std::uint32_t shown_team = 0;  // the size of the team when it was shown last

Shared& own() { return shared[terrane_program_node()]; }

std::uint32_t places_before(std::uint32_t node) {
  std::uint32_t count = 0;
  for (std::uint32_t n = 0; n < node; ++n) count += shared[n].count;
  return count;
}

void tell_processors(void* table) {
  shared = static_cast<Shared*>(table);
  CPU_ZERO(&own().usable);
  ::sched_getaffinity(0, sizeof own().usable, &own().usable);
}

// Nodes that may use the same processors share the places there.
void tell_places(void*) {
  Places all;
  parse_places(environment().places, own().usable, all);
  std::uint32_t self = terrane_program_node(), before = 0, together = 0;
  for (std::uint32_t n = 0; n < terrane_program_nodes(); ++n) {
    bool shares =
        terrane_program_are_together(self, n) && CPU_EQUAL(&shared[n].usable, &own().usable) != 0;
    before += shares && n < self ? 1 : 0;
    together += shares ? 1 : 0;
  }
  Places mine = share_of_places(all, before, together);
  own().count = static_cast<std::uint32_t>(std::min<std::size_t>(mine.size(), CPU_SETSIZE));
  std::copy_n(mine.begin(), own().count, own().places);
}

bool is_bind_clause(unsigned clause) { return clause >= 2 && clause <= 4; }

bool is_equal(const Seat& a, const Seat& b) {
  return a.place == b.place && a.first == b.first && a.count == b.count;
}

void move_to(const Seat& wanted) {
  if (!has_seat || wanted.place != seat.place)
    ::sched_setaffinity(0, sizeof(cpu_set_t), &own().places[wanted.place]);
  seat = wanted;
  has_seat = true;
}

}  // namespace

void share_places() {
  if (has_shared || !environment().binds_threads()) return;
  has_shared = true;
  void* table = terrane_program_memory(terrane_program_nodes() * sizeof(Shared));
  run_on_each_node(tell_processors, table);
  run_on_each_node(tell_places, nullptr);
}

Bind next_bind() {
  std::uint32_t by_clause = controls().bind;
  return by_clause != 0 ? static_cast<Bind>(by_clause) : environment().bind_at(region().level);
}

Bind bind_of_region(unsigned clause) {
  Bind bind = next_bind();
  return bind == Bind::kFalse || !is_bind_clause(clause) ? bind : static_cast<Bind>(clause);
}

std::uint32_t bind_within(unsigned clause) {
  if (!is_bind_clause(clause) || !environment().binds_threads()) return controls().bind;
  return region().level + 1 < environment().binds.size() ? 0 : clause;
}

Seat whole_node() { return {0, 0, shared == nullptr ? 0 : own().count}; }

Seat own_seat() { return has_seat ? seat : whole_node(); }

void return_to_seat(const Seat& before) {
  if (has_seat && !is_equal(before, seat)) move_to(before);
}

void take_seat(Bind bind, std::uint32_t thread, std::uint32_t threads, std::uint32_t team,
               const Seat& within) {
  bool is_new = shown_team != team;
  if (bind != Bind::kFalse && within.count != 0) {
    Seat wanted = seat_within(within, bind, thread, threads);
    is_new = is_new || !has_seat || !is_equal(wanted, seat);
    move_to(wanted);
  }
  if (!is_new || environment().shows_affinity == 0) return;
  shown_team = team;
  omp_display_affinity(nullptr);
}

std::uint32_t places_of_all() {
  if (terrane_program_is_main() && this_thread().region == nullptr) share_places();
  return shared == nullptr ? 0 : places_before(terrane_program_nodes());
}

const cpu_set_t* place_at(int number) {
  if (number < 0 || static_cast<std::uint32_t>(number) >= places_of_all()) return nullptr;
  auto left = static_cast<std::uint32_t>(number);
  for (const Shared* node = shared;; ++node) {
    if (left < node->count) return &node->places[left];
    left -= node->count;
  }
}

int own_place() {
  if (!has_seat) return -1;
  return static_cast<int>(places_before(terrane_program_node()) + seat.place);
}

void own_partition(std::uint32_t& first, std::uint32_t& count) {
  first = 0;
  count = places_of_all();
  if (!has_seat || seat.count == own().count) return;
  first = places_before(terrane_program_node()) + seat.first;
  count = seat.count;
}

}  // namespace terrane::frontend::omp
