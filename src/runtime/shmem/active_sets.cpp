#include <fmt/format.h>

#include "runtime/shmem/teams.h"

// No call creates an active set. Its first member claims a slot at the first call and announces it
// to the other members, which are sure to call too. A member may read an announcement for another
// of its threads; it keeps that for the other thread.
namespace terrane::runtime::shmem {

Team& Teams::active_set(const TeamShape& shape) {
  {
    std::lock_guard held(lock_);
    if (auto found = active_sets_.find(key(shape)); found != active_sets_.end()) {
      return *found->second;
    }
  }
  TeamSeat seat;
  if (shape.world_pe(0) == world_->self()) {
    std::optional<TeamSeat> claimed = claim(shape);
    if (!claimed) {
      world_->fail(
          fmt::format("more than {} teams and active sets at a time: destroy teams that "
                      "are not used any more",
                      kProgramSlots));
    }
    seat = *claimed;
    announce(shape, seat);
  } else {
    seat = await_announcement(shape);
  }
  auto team = std::make_unique<Team>(*world_, algorithms_, shape, seat);
  std::lock_guard held(lock_);
  return *active_sets_.emplace(key(shape), std::move(team)).first->second;
}

void Teams::announce(const TeamShape& shape, TeamSeat seat) {
  SymmetricAddress entry = announcement_place(world_->self());
  auto field = [&](std::uint64_t offset) {
    return SymmetricAddress{entry.part, entry.offset + offset};
  };
  SymmetricAddress state = field(offsetof(Announcement, state));
  std::uint32_t numbers[4] = {shape.start, static_cast<std::uint32_t>(shape.stride), shape.size,
                              seat.slot};
  for (std::uint32_t member = 1; member < shape.size; ++member) {
    NodeId pe = shape.world_pe(member);
    world_->wait_until([&] {
      return reach_.compare_swap32(pe, state, Announcement::kEmpty, Announcement::kBeingWritten) ==
             Announcement::kEmpty;
    });
    reach_.put(pe, field(offsetof(Announcement, start)), numbers, sizeof numbers);
    reach_.put(pe, field(offsetof(Announcement, sequence)), &seat.sequence, sizeof seat.sequence);
    reach_.quiet();
    reach_.swap32(pe, state, Announcement::kFull);
  }
}

void Teams::file_announcement(NodeId from) {
  Announcement& entry = control().announcements[from.value];
  if (entry.state.load(std::memory_order_acquire) != Announcement::kFull) return;
  announced_[{entry.start, entry.stride, entry.size}] = {entry.slot, entry.sequence};
  entry.state.store(Announcement::kEmpty, std::memory_order_release);
}

TeamSeat Teams::await_announcement(const TeamShape& shape) {
  TeamSeat seat;
  world_->wait_until([&] {
    std::lock_guard held(lock_);
    file_announcement(shape.world_pe(0));
    auto found = announced_.find(key(shape));
    if (found == announced_.end()) return false;
    seat = found->second;
    announced_.erase(found);
    return true;
  });
  return seat;
}

}  // namespace terrane::runtime::shmem
