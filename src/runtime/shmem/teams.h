#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/shmem/team.h"

namespace terrane::runtime::shmem {

// The teams of which this PE is a member. Owns them, and the map of taken slots in every PE's
// control area. Several threads may make and destroy teams at once, if the teams have different
// parents.
class Teams {
 public:
  // Collective over the world, once, after the control areas are mapped everywhere. crowded: the
  // threads of this PE's host do not fit its processors. choices: see AlgorithmTable. An error if
  // the choices are wrong or differ between PEs.
  static base::Result<std::unique_ptr<Teams>> start(World& world, bool crowded,
                                                    std::string_view choices);

  Team& world_team() { return *world_team_; }
  // The PEs of our host.
  Team& shared_team() { return *shared_team_; }
  // The team that was split off with this Team::name; nullptr: there is none, or it was destroyed.
  // Names are larger than kSlots and unique.
  Team* named(std::uint64_t name) const {
    Team* team = by_slot_[name % kSlots].load(std::memory_order_acquire);
    return team != nullptr && team->name == name ? team : nullptr;
  }

  // The result of a split, equal at all PEs of the parent; `team` is nullptr if we are no member.
  struct Split {
    bool made = false;
    Team* team = nullptr;
  };
  struct Split2d {
    bool made = false;
    Team* x = nullptr;
    Team* y = nullptr;
  };
  // Collective over the parent. Not made: the arguments name PEs that the parent does not have, or
  // some PE is in the maximum number of teams.
  Split split_strided(Team& parent, std::int64_t start, std::int64_t stride, std::int64_t size);
  Split2d split_2d(Team& parent, std::int64_t x_range);
  // Collective over the team, which was split off by the program. Frees the team.
  void destroy(Team& team);

  // The team of a deprecated active set; made at the first call, and kept. We are a member.
  Team& active_set(const TeamShape& shape);

 private:
  Teams(World& world, AlgorithmTable algorithms);

  // Claims a slot that is free at each PE of the shape.
  std::optional<TeamSeat> claim(const TeamShape& shape);
  bool claim_slot(const TeamShape& shape, std::uint32_t slot);
  void release_slot(NodeId pe, std::uint32_t slot);
  std::uint64_t taken_word(const TeamShape& shape, std::uint32_t word);
  std::uint64_t last_sequence(const TeamShape& shape, std::uint32_t slot);

  Team* enter(const TeamShape& shape, TeamSeat seat);
  std::optional<TeamShape> part_of(const TeamShape& parent, std::int64_t start, std::int64_t stride,
                                   std::int64_t size);
  TeamShape list(std::vector<NodeId> pes);
  TeamShape shape_of(std::vector<NodeId> pes);
  TeamShape shared_shape();
  void divide_world();
  void announce(const TeamShape& shape, TeamSeat seat);
  TeamSeat await_announcement(const TeamShape& shape);
  ControlArea& control() const;

  using SetKey = std::array<std::uint32_t, 3>;
  static SetKey key(const TeamShape& shape) {
    return {shape.start, static_cast<std::uint32_t>(shape.stride), shape.size};
  }
  void file_announcement(NodeId from);

  World* world_;
  Reach reach_;
  AlgorithmTable algorithms_;
  std::unique_ptr<Team> world_team_;
  std::unique_ptr<Team> shared_team_;
  std::unique_ptr<Team> cluster_team_;  // nullptr: there is one cluster
  std::array<std::atomic<Team*>, kSlots> by_slot_{};
  std::mutex lock_;  // guards the members below; never held during a wait
  std::uint64_t splits_ = 0;
  std::vector<std::unique_ptr<Team>> split_;
  std::vector<std::unique_ptr<std::vector<NodeId>>> lists_;
  std::map<SetKey, std::unique_ptr<Team>> active_sets_;
  std::map<SetKey, TeamSeat> announced_;  // received, and not used by a call here yet
};

}  // namespace terrane::runtime::shmem
