#include "frontend/threads/team_barriers.h"

#include <cstring>
#include <vector>

#include "frontend/threads/for_teams.h"
#include "platform/quiet_thread.h"
#include "waiting/local_barrier.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::uint32_t kForkBarrier = 1;

std::uint32_t barrier_count = 0;
waiting::LocalBarrier local_barriers[kMostProgramBarriers + 1];

void require(const Program& program, const runtime::Outcome& outcome) {
  if (!outcome.ok()) program.node().fail(outcome.message);
}

bool is_local(const Program& program) {
  return program.working() == 1 && program.node().nodes() > 1;
}

}  // namespace

void set_team_barriers(std::uint32_t count) { barrier_count = count; }

void team_barrier(const Program& program, std::uint32_t id, std::uint32_t threads_here) {
  if (is_local(program)) return local_barriers[id].wait(threads_here);
  require(program, program.node().barrier(BarrierId{id}, threads_here));
}

void team_join(const Program& program, std::uint32_t id, std::uint32_t threads_here) {
  if (is_local(program)) return local_barriers[id].gather(threads_here);
  require(program, program.node().gather(BarrierId{id}, threads_here));
}

void team_fork(const Program& program, std::uint32_t id, std::uint32_t threads_here,
               std::span<const std::byte> given, std::span<std::byte> heard) {
  Private ours;
  bool hears = heard.data() != nullptr;
  if (is_local(program)) {
    waiting::LocalBarrier& barrier = local_barriers[id];
    if (terrane_program_is_main()) return barrier.release(threads_here, given);
    barrier.wait(threads_here);
    std::span<const std::byte> told = barrier.told();
    if (hears && told.size() == heard.size()) std::memcpy(heard.data(), told.data(), told.size());
    return;
  }
  std::vector<std::byte> got;  // none of the thread's: handlers of exit fork after its destructors
  require(program, program.node().barrier_broadcast(BarrierId{id}, threads_here, given, got));
  if (hears && got.size() == heard.size()) std::memcpy(heard.data(), got.data(), got.size());
}

// Each round's end is the next one's arrival: no node waits for a node that lends for longer than a
// message takes there and back.
void come_to_team_barriers(const Program& program) {
  if (program.working() == 1) return;
  for (std::uint32_t id = 1; id <= barrier_count; ++id) {
    auto come = [&program, id] {
      for (;;) {
        if (id == kForkBarrier) {
          team_fork(program, id, 1, {}, {});
        } else {
          team_barrier(program, id, 1);
        }
      }
    };
    platform::start_without_signals(come).detach();
  }
}

}  // namespace terrane::frontend::threads
