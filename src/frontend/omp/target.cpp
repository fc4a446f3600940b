// target and teams: there is no device, so that such regions run on the host.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "frontend/omp/api.h"
#include "frontend/omp/late_tasks.h"
#include "frontend/omp/task_queue.h"
#include "frontend/omp/team.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

constexpr unsigned kFirstPrivate = 0xc;  // the kind of an entry that the region has a copy of

// Variables that the region has for itself are copied; the region changes the copies.
class PrivateCopies {
 public:
  PrivateCopies(std::size_t count, void** addresses, const std::size_t* sizes,
                const unsigned short* kinds) {
    for (std::size_t i = 0; i < count; ++i) {
      // An optional argument of Fortran that is absent has no address.
      bool is_there = sizes[i] != 0 && addresses[i] != nullptr;
      if ((kinds[i] & 0xff) != kFirstPrivate || !is_there) continue;
      std::size_t alignment = std::max<std::size_t>(std::size_t{1} << (kinds[i] >> 8), 16);
      void* copy =
          std::aligned_alloc(alignment, (sizes[i] + alignment - 1) / alignment * alignment);
      if (copy == nullptr) std::abort();
      std::memcpy(copy, addresses[i], sizes[i]);
      addresses[i] = copy;
      copies_.push_back(copy);
    }
  }
  ~PrivateCopies() {
    for (void* copy : copies_) std::free(copy);
  }
  PrivateCopies(const PrivateCopies&) = delete;

 private:
  std::vector<void*> copies_;
};

// The calling thread is the first one of a device while this lives: in no region and no league,
// with the control variables of the environment. Its regions have teams of the job outside of
// parallel regions, else teams of the node.
class OnDevice {
 public:
  OnDevice() : before_(me_), controls_(controls()) {
    if (me_.region != nullptr) {
      region_.local = me_.region->local;
      region_.tasks = me_.region->tasks;
      region_.report = me_.region->report;
      me_.region = &region_;
    }
    begin_task_number();
    me_.team_number = 0;
    me_.teams = 1;
    me_.final_tasks = me_.explicit_tasks = 0;
    me_.group = nullptr;
    me_.controls = environment().controls;
    enter_implicit_task(frame_);
  }
  ~OnDevice() {
    leave_task(frame_);
    me_.region = before_.region;
    me_.task_number = before_.task_number;
    me_.team_number = before_.team_number;
    me_.teams = before_.teams;
    me_.final_tasks = before_.final_tasks;
    me_.explicit_tasks = before_.explicit_tasks;
    me_.group = before_.group;
    me_.controls = controls_;
  }
  OnDevice(const OnDevice&) = delete;

 private:
  struct Before {
    explicit Before(const Thread& thread)
        : region(thread.region),
          group(thread.group),
          task_number(thread.task_number),
          final_tasks(thread.final_tasks),
          explicit_tasks(thread.explicit_tasks),
          team_number(thread.team_number),
          teams(thread.teams) {}
    Region* region;
    Group* group;
    std::uint32_t task_number, final_tasks, explicit_tasks;
    std::int32_t team_number, teams;
  };
  Thread& me_ = this_thread();
  Before before_;
  Controls controls_;
  Region region_;
  Frame frame_;
};

void limit_threads(unsigned limit) {
  if (limit != 0) controls().thread_limit = std::min(controls().thread_limit, limit);
}

// The clauses of a target construct, in a list that ends with a null pointer: a word with the
// clause and its value, or followed by a word that is the value. That of thread_limit; 0: none.
unsigned thread_limit_of(void* const* clauses) {
  constexpr std::uintptr_t kDevice = 0x7f, kValueFollows = 0x80, kClause = 0xff00;
  constexpr std::uintptr_t kThreadLimit = 0x200;
  constexpr unsigned kValueShift = 16;
  unsigned limit = 0;
  while (clauses != nullptr && *clauses != nullptr) {
    auto word = reinterpret_cast<std::uintptr_t>(*clauses++);
    std::uintptr_t value = word >> kValueShift;
    if ((word & kValueFollows) != 0) value = reinterpret_cast<std::uintptr_t>(*clauses++);
    if ((word & kDevice) == 0 && (word & kClause) == kThreadLimit)
      limit = static_cast<unsigned>(std::min<std::uintptr_t>(value, UINT_MAX));
  }
  return limit;
}

// The number of a device as the compiler passes it: one of the two below, or the program's.
constexpr int kDefaultDevice = -1, kHostByClause = -2;

// OMP_TARGET_OFFLOAD=mandatory: a region for another device than the host ends the program.
void check_device(int device) {
  if (environment().needs_device == 0 || device == kHostByClause) return;
  if (device == kDefaultDevice) device = controls().default_device;
  if (device == omp_get_initial_device()) return;
  terrane_program_fail(("OMP_TARGET_OFFLOAD=mandatory: there is no device " +
                        std::to_string(device) + " but the host, which has the number " +
                        std::to_string(omp_get_initial_device()))
                           .c_str());
}

}  // namespace

namespace terrane::frontend::omp {

void run_league(Function* function, void* data, unsigned teams, unsigned thread_limit) {
  Controls before = controls();
  if (teams == 0) teams = static_cast<unsigned>(std::max(before.max_teams, 1));
  if (thread_limit == 0) thread_limit = static_cast<unsigned>(before.teams_thread_limit);
  Thread& me = this_thread();
  me.teams = static_cast<std::int32_t>(teams);
  for (unsigned team = 0; team < teams; ++team) {
    me.team_number = static_cast<std::int32_t>(team);
    limit_threads(thread_limit);
    function(data);
    me.controls = before;
  }
  me.teams = 1;
  me.team_number = 0;
}

}  // namespace terrane::frontend::omp

extern "C" {

void GOMP_target(int number, Function* function, const void*, std::size_t, void** addresses,
                 std::size_t*, unsigned char*) {
  check_device(number);
  OnDevice device;
  function(addresses);
}

void GOMP_target_ext(int number, Function* function, std::size_t count, void** addresses,
                     std::size_t* sizes, unsigned short* kinds, unsigned, void** dependences,
                     void** clauses) {
  check_device(number);
  await_dependences(dependences);
  PrivateCopies copies(count, addresses, sizes, kinds);
  OnDevice device;
  limit_threads(thread_limit_of(clauses));
  function(addresses);
}

void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, unsigned short*) {}
void GOMP_target_end_data() {}
void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                            void** dependences) {
  await_dependences(dependences);
}
void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                 void** dependences) {
  await_dependences(dependences);
}
void GOMP_offload_register(const void*, int, const void*) {}
void GOMP_offload_unregister(const void*, int, const void*) {}
void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

void GOMP_teams(unsigned, unsigned thread_limit) { limit_threads(thread_limit); }

// Within a target region: true for each team in turn.
bool GOMP_teams4(unsigned teams, unsigned, unsigned thread_limit, bool is_first) {
  Thread& me = this_thread();
  if (is_first) {
    limit_threads(thread_limit);
    me.teams = static_cast<std::int32_t>(std::max(teams, 1u));
    me.team_number = 0;
    return true;
  }
  if (me.team_number + 1 < me.teams) {
    ++me.team_number;
    return true;
  }
  me.teams = 1;
  me.team_number = 0;
  return false;
}

void GOMP_teams_reg(Function* function, void* data, unsigned teams, unsigned thread_limit,
                    unsigned) {
  run_league(function, data, teams, thread_limit);
}

// Of gcc 14: where a function lies on a device.
void* GOMP_target_map_indirect_ptr(void* function) { return function; }

}  // extern "C"
