#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/shmem/algorithm.h"
#include "runtime/shmem/control_layout.h"
#include "runtime/shmem/reach.h"
#include "runtime/shmem/team_shape.h"
#include "runtime/shmem/world.h"

namespace terrane::runtime::shmem {

// Which slot of the control areas a team has, as agreed by its members.
struct TeamSeat {
  std::uint32_t slot = 0;
  std::uint64_t sequence = 0;  // last number of the slot's former teams; ours are larger
};

// A team as one of its members sees it. All members call its collective operations in the same
// order, so all count the same sequence numbers, and nothing else has to match. Other members may
// write to a PE before that PE has entered an operation. Owns no memory of the control area. One
// thread at a time, as the team itself; any thread may call the const queries.
class Team {
 public:
  // This PE is a member of `shape`. The world, the algorithms and a shape's list outlive the team.
  Team(World& world, const AlgorithmTable& algorithms, const TeamShape& shape, TeamSeat seat);

  const TeamShape& shape() const { return shape_; }
  std::uint32_t self() const { return self_; }
  std::uint32_t size() const { return shape_.size; }
  TeamSeat seat() const { return {slot_, sequence_}; }
  NodeId pe(std::uint32_t member) const { return shape_.world_pe(member); }
  World& world() const { return *world_; }
  const Reach& reach() const { return reach_; }
  // Whether every member's memory is mapped here.
  bool on_one_host() const { return host_firsts_.size() == 1; }

  // A call of the program that is checked: it must be equal to member 0's operation with the same
  // number, or else the job ends. During the call, a PE that waits too long reports that. `call`
  // and what it points to live as long as the program.
  struct Call {
    static constexpr std::uint64_t kAnywhere = ~0ull;  // a place of 0 bytes: equal to any other
    const char* name = nullptr;
    const char* kind = nullptr;  // calls of the same kind count as equal
    const char* type = "";       // of the elements, if it must be equal at all members
    std::uint64_t bytes = 0;
    std::uint64_t root = 0;
    std::uint64_t dest = 0;  // offsets in symmetric memory, or kAnywhere; of a free, its block
    std::uint64_t source = 0;
    std::uint64_t alignment = 0;  // not 0: of an allocation or a free
  };
  void begin_call(const Call& call);

  // The program's name for the team, if the program has split it off (Teams::named).
  std::uint64_t name = 0;
  // The number of contexts that the program requested when it made the team.
  int num_contexts = 0;

  // The members of a team whose PEs are in several clusters. The first member of each cluster is
  // its head: heads exchange data, and give them to the members of their own clusters.
  struct Clusters {
    std::vector<std::vector<std::uint32_t>> members;  // of the team, by cluster
    std::uint32_t own = 0;
    Team* inside = nullptr;  // the members of our own cluster, in the same order

    std::uint32_t count() const { return static_cast<std::uint32_t>(members.size()); }
    std::uint32_t head(std::uint32_t cluster) const { return members[cluster].front(); }
    bool is_head() const { return inside->self() == 0; }
  };
  // Makes collective operations cross each link between clusters as rarely as possible. All members
  // call it in the same place; `inside` outlives this.
  void divide(Clusters clusters) { clusters_ = std::move(clusters); }
  // Marks this team as the team inside a cluster: it does not wait for puts to other clusters.
  void stay_inside();
  // nullptr: all members are in one cluster.
  const Clusters* clusters() const { return clusters_ ? &*clusters_ : nullptr; }

  // Returns when every member has called it. Stores of the members to memory of their host are then
  // visible to all; their puts to other hosts too, if they called reach().quiet() before.
  void sync();

  // Work that members on a host share; each member's work has the numbers 0, 1, ... The owner
  // offers it before a synchronisation. Then any member takes numbers until the next one; each is
  // given out once.
  void offer_work() { slots_[self_]->taken.value.store(0, std::memory_order_relaxed); }
  std::uint64_t take_work(std::uint32_t member) {
    return slots_[member]->taken.value.fetch_add(1, std::memory_order_relaxed);
  }
  // Whether on some host there are more threads than processors.
  bool crowded() const { return algorithms_->crowded(); }

  // The algorithm for an operation on `bytes`; equal at all members if the bytes are.
  Algorithm choose(Collective collective, std::uint64_t bytes) const;

  // The cell of one operation, the same at every member.
  struct Turn {
    std::uint64_t sequence = 0;
    std::uint32_t cell = 0;
  };
  Turn next_turn();
  // Makes `bytes` <= kCellBytes visible in our cell to the members on our host.
  void show(Turn turn, const void* data, std::uint64_t bytes);
  // Waits for the data that `member`, whose memory is in reach, shows in this turn. Valid until the
  // team's next synchronisation.
  const std::byte* see(Turn turn, std::uint32_t member);
  // Notifies a member, near or far, that what we put there before may be used, and sends it small
  // data. The member waits for that by `told()`, which returns the data.
  void tell(Turn turn, std::uint32_t member, const void* data, std::uint64_t bytes);
  // The same, after a put of data of any size.
  void tell_of(Turn turn, std::uint32_t member, SymmetricAddress to, const void* data,
               std::uint64_t bytes) {
    reach_.put_and_post(pe(member), to, data, bytes, cell_sequence(turn), turn.sequence);
  }
  const std::byte* told(Turn turn) { return see(turn, self_); }
  // The place of the turn's cell data, at every member.
  SymmetricAddress cell_place(Turn turn) const {
    return slot_place(slot_,
                      offsetof(Slot, cells) + turn.cell * sizeof(Cell) + offsetof(Cell, data));
  }
  // The operation that ends now took `turns` turns, and has shown that all members have begun it:
  // the cells of earlier turns are free.
  void all_have_come(std::uint32_t turns) { turns_left_ = kCells - turns; }
  // Gives every member, on any host, the root's data; bytes <= kCellBytes.
  void share(std::uint32_t root, void* data, std::uint64_t bytes);

  // The members on our host, in the team's order, with ourselves.
  std::span<const std::uint32_t> neighbours() const { return neighbours_; }
  // The first member on each host, in the order in which the team has the hosts. on_host(member):
  // the index of that member's host.
  std::span<const std::uint32_t> host_firsts() const { return host_firsts_; }
  std::uint32_t our_host() const { return our_host_; }
  std::uint32_t first_near(std::uint32_t member) const;

 private:
  Slot* slot_at(NodeId pe) const;
  void find_hosts();
  void sync_pairwise();
  void sync_counted();
  void sync_hosts(Slot& home);
  void sync_clusters();
  void share_in_clusters(std::uint32_t root, void* data, std::uint64_t bytes);
  SymmetricAddress cell_sequence(Turn turn) const {
    return slot_place(slot_,
                      offsetof(Slot, cells) + turn.cell * sizeof(Cell) + offsetof(Cell, sequence));
  }
  void wait_for(const std::atomic<std::uint64_t>& flag, std::uint64_t sequence);
  void tell_of_wait(double seconds) const;

  World* world_;
  const AlgorithmTable* algorithms_;
  Reach reach_;
  TeamShape shape_;
  std::uint32_t slot_;
  std::uint32_t self_;
  std::uint64_t sequence_;
  std::uint32_t turns_ = 0;
  std::uint32_t turns_left_ = kCells;  // until this member must wait for the slowest one
  std::vector<Slot*> slots_;           // by member; nullptr: on another host
  std::vector<Slot*> partners_;        // by round of a pairwise synchronisation
  std::vector<std::uint32_t> neighbours_;
  std::vector<std::uint32_t> host_firsts_;
  std::uint32_t our_host_ = 0;
  std::optional<Clusters> clusters_;
  std::vector<NodeId> far_pes_;  // of a team inside a cluster: members on other hosts
  bool pairwise_ = false;
  const char* call_ = nullptr;  // the current one, if calls are checked
  std::uint64_t calls_ = 0;
};

}  // namespace terrane::runtime::shmem
