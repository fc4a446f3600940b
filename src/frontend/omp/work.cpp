#include "frontend/omp/work.h"

#include <algorithm>
#include <cstdlib>

#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

// The next construct of the team. Its slot has served before; a barrier of the team in between
// keeps the two apart, and is made here where the program has none.
std::uint32_t next_slot() {
  Region& own = region();
  if (own.size > 1 && ++own.without_barrier == kSlots) {
    team_barrier();
    own.without_barrier = 1;
  }
  if (own.size == 1) return 0;
  return static_cast<std::uint32_t>(++own.progress->generation % kSlots);
}

std::uint64_t divide_up(std::uint64_t number, std::uint64_t by) {
  return number / by + (number % by != 0 ? 1 : 0);
}

std::uint64_t guided_bytes(const Work& work, std::uint64_t left) {
  std::uint64_t size = std::max(divide_up(left, region().size), work.plan.chunk);
  return std::min(size, left);
}

// Goes on to that chunk, or to the end; whether the chunk exists.
bool find_guided(Work& work, std::uint64_t chunk) {
  while (work.guided_begin < work.range.count && work.guided_index < chunk) {
    work.guided_begin += guided_bytes(work, work.range.count - work.guided_begin);
    ++work.guided_index;
  }
  return work.guided_begin < work.range.count;
}

// How many chunks the loop has.
std::uint64_t chunks_of(Work& work) {
  switch (work.plan.schedule) {
    case Schedule::kDynamic:
      return divide_up(work.range.count, work.plan.chunk);
    case Schedule::kGuided:
      find_guided(work, ~0ull);
      return work.guided_index;
    default:
      break;
  }
  if (work.plan.chunk != 0) return divide_up(work.range.count, work.plan.chunk);
  return std::min<std::uint64_t>(work.range.count, region().size);
}

bool takes_from_counter(const Work& work) {
  return work.plan.schedule == Schedule::kDynamic || work.plan.schedule == Schedule::kGuided;
}

// The iterations of the thread's next chunk, as numbers from 0.
bool next_static(Work& work, std::uint64_t& begin, std::uint64_t& end) {
  const Region& own = region();
  std::uint64_t count = work.range.count, round = work.rounds++;
  if (work.plan.chunk == 0) {
    std::uint64_t each = count / own.size, more = count % own.size;
    begin = own.number * each + std::min<std::uint64_t>(own.number, more);
    end = begin + each + (own.number < more ? 1 : 0);
    work.chunk = own.number;
    return round == 0 && begin < end;
  }
  work.chunk = own.number + round * own.size;
  if (work.chunk >= divide_up(count, work.plan.chunk)) return false;
  begin = work.chunk * work.plan.chunk;
  end = begin + std::min(work.plan.chunk, count - begin);
  return true;
}

bool next_of_counter(Work& work, std::uint64_t& begin, std::uint64_t& end) {
  const Region& own = region();
  if (own.size == 1) {
    work.chunk = work.rounds++;
  } else {
    work.chunk = own.team->take_chunk(work.slot) - own.progress->taken[work.slot];
  }
  if (work.plan.schedule == Schedule::kGuided) {
    if (!find_guided(work, work.chunk)) return false;
    begin = work.guided_begin;
    end = begin + guided_bytes(work, work.range.count - begin);
    return true;
  }
  if (work.chunk >= divide_up(work.range.count, work.plan.chunk)) return false;
  begin = work.chunk * work.plan.chunk;
  end = begin + std::min(work.plan.chunk, work.range.count - begin);
  return true;
}

// The turn goes to the next chunk, whether this one had an ordered region or not.
void pass_turn(Work& work) {
  if (!work.has_chunk || !work.plan.is_ordered || region().size == 1) return;
  wait_for_turn();
  work.has_turn = false;
  region().team->pass_turn(work.slot);
}

}  // namespace

Range range_of(long start, long end, long step) {
  Range range;
  range.first = static_cast<std::uint64_t>(start);
  range.end = static_cast<std::uint64_t>(end);
  range.step = static_cast<std::uint64_t>(step);
  if (step > 0 && start < end) range.count = divide_up(range.end - range.first, range.step);
  if (step < 0 && start > end) range.count = divide_up(range.first - range.end, -range.step);
  return range;
}

Range range_of(bool counts_up, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
  Range range;
  range.first = start;
  range.end = end;
  range.step = step;
  if (counts_up && start < end) range.count = divide_up(end - start, step);
  if (!counts_up && start > end) range.count = divide_up(start - end, -step);
  return range;
}

Plan plan_of(std::uint32_t schedule, std::uint64_t chunk, bool is_ordered) {
  Plan plan;
  plan.schedule = static_cast<Schedule>(schedule & ~kMonotonic);
  plan.chunk = chunk;
  plan.is_ordered = is_ordered;
  if (plan.schedule == Schedule::kRuntime) {
    plan.schedule = controls().schedule;
    plan.chunk = controls().chunk;
  }
  if (plan.schedule == Schedule::kAuto) {
    plan.schedule = Schedule::kStatic;
    plan.chunk = 0;
  }
  bool needs_chunk = plan.schedule != Schedule::kStatic;
  if (needs_chunk && plan.chunk == 0) plan.chunk = 1;
  return plan;
}

void begin_work(const Range& range, const Plan& plan) {
  Work& work = region().work;
  work = Work();
  work.slot = next_slot();
  work.is_active = true;
  work.range = range;
  work.plan = plan;
}

bool next_chunk(std::uint64_t& first, std::uint64_t& end) {
  Work& work = region().work;
  pass_turn(work);
  std::uint64_t from = 0, to = 0;
  work.has_chunk =
      takes_from_counter(work) ? next_of_counter(work, from, to) : next_static(work, from, to);
  if (!work.has_chunk) return false;
  first = work.range.first + from * work.range.step;
  bool is_last = to == work.range.count;
  end = is_last ? work.range.end : work.range.first + to * work.range.step;
  return true;
}

void end_work() {
  Region& own = region();
  Work& work = own.work;
  if (!work.is_active) return;
  pass_turn(work);
  end_doacross();
  work.is_active = false;
  std::free(work.block);
  if (own.size == 1) return;
  std::uint64_t chunks = chunks_of(work);
  if (takes_from_counter(work)) own.progress->taken[work.slot] += chunks + own.size;
  if (work.plan.is_ordered) own.progress->turns[work.slot] += chunks;
}

void end_work_and_wait() {
  end_work();
  team_barrier();
}

bool begin_single() {
  Region& own = region();
  return own.size == 1 || own.team->takes_single(own, next_slot());
}

void wait_for_turn() {
  Region& own = region();
  Work& work = own.work;
  if (work.has_turn || !work.is_active || own.size == 1) return;
  own.team->await_turn(work.slot, own.progress->turns[work.slot] + work.chunk);
  work.has_turn = true;
}

void* block_of_work(std::size_t bytes) {
  Region& own = region();
  void* block = nullptr;
  if (own.size > 1) {
    block = own.team->shared_block(own, own.work.slot, bytes);
  } else {
    block = own.work.block = std::calloc(1, bytes);
  }
  if (block == nullptr) terrane_program_fail("no memory for what the threads of a loop share");
  return block;
}

}  // namespace terrane::frontend::omp
