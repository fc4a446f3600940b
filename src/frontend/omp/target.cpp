// target and teams: there is no device, so that such regions run on the host.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "frontend/omp/late_tasks.h"
#include "frontend/omp/task_queue.h"
#include "frontend/omp/team.h"

using namespace terrane::frontend::omp;

namespace {

constexpr unsigned kFirstPrivate = 0xc;  // the kind of an entry that the region has a copy of

// Variables that the region has for itself are copied; the region changes the copies.
class PrivateCopies {
 public:
  PrivateCopies(std::size_t count, void** addresses, const std::size_t* sizes,
                const unsigned short* kinds) {
    for (std::size_t i = 0; i < count; ++i) {
      if ((kinds[i] & 0xff) != kFirstPrivate || sizes[i] == 0) continue;
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

// The calling thread is the first one of a device while this lives: in no region and no league.
// Outside of parallel regions it has teams like any other code; within one the device is its own
// thread alone.
class OnDevice {
 public:
  OnDevice() : before_(me_), controls_(controls()) {
    if (me_.region != nullptr) me_.region = &region_;
    begin_task_number();
    me_.team_number = 0;
    me_.teams = 1;
    me_.final_tasks = me_.explicit_tasks = 0;
    me_.group = nullptr;
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

// The teams of a league run one after the other; each may use all nodes.
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

}  // namespace

extern "C" {

void GOMP_target(int, Function* function, const void*, std::size_t, void** addresses, std::size_t*,
                 unsigned char*) {
  OnDevice device;
  function(addresses);
}

void GOMP_target_ext(int, Function* function, std::size_t count, void** addresses,
                     std::size_t* sizes, unsigned short* kinds, unsigned, void** dependences,
                     void**) {
  await_dependences(dependences);
  PrivateCopies copies(count, addresses, sizes, kinds);
  OnDevice device;
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

void* omp_target_alloc(std::size_t bytes, int) { return bytes == 0 ? nullptr : std::malloc(bytes); }
void omp_target_free(void* block, int) { std::free(block); }
int omp_target_is_present(const void*, int) { return 1; }
int omp_target_is_accessible(const void*, std::size_t, int) { return 1; }
int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                      std::size_t from_offset, int, int) {
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
              bytes);
  return 0;
}
// Of gcc 14: where a function lies on a device.
void* GOMP_target_map_indirect_ptr(void* function) { return function; }
void* omp_get_mapped_ptr(const void* block, int) { return const_cast<void*>(block); }

}  // extern "C"
