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

// Where a team lies in the control areas, agreed by its members.
struct TeamSeat {
  std::uint32_t slot = 0;
  std::uint64_t sequence = 0;  // the operations of former teams in this slot: ours count from here
};

// A team as one of its members sees it. All members call its collective operations in the same
// order, so that each of them counts the same sequence numbers, and nothing else has to match. A PE
// may be written to before it has entered an operation. Owns no memory of the control area. One
// thread at a time, like the team itself; the queries may be asked by any.
class Team {
 public:
  // We are a member of `shape`. The world, the choices and a listed shape's list outlive the team.
  Team(World& world, const AlgorithmTable& algorithms, const TeamShape& shape, TeamSeat seat);

  const TeamShape& shape() const { return shape_; }
  std::uint32_t self() const { return self_; }
  std::uint32_t size() const { return shape_.size; }
  TeamSeat seat() const { return {slot_, sequence_}; }
  NodeId pe(std::uint32_t member) const { return shape_.world_pe(member); }
  World& world() const { return *world_; }
  const Reach& reach() const { return reach_; }
  // Every member's memory is mapped here.
  bool on_one_host() const { return host_firsts_.size() == 1; }

  // A checked call of the program: compared with what member 0 has called as its operation of the
  // same number, the job ends where it differs. While the call lasts, a PE that waits too long says
  // so. `call` and what it points to live as long as the program.
  struct Call {
    static constexpr std::uint64_t kAnywhere = ~0ull;  // a place of no bytes matches every other
    const char* name = nullptr;
    const char* kind = nullptr;  // calls of one kind may replace each other
    const char* type = "";       // of the elements, where it matters to the others
    std::uint64_t bytes = 0;
    std::uint64_t root = 0;
    std::uint64_t dest = 0;  // offsets in symmetric memory, or kAnywhere; of a free, its block
    std::uint64_t source = 0;
    std::uint64_t alignment = 0;  // not 0: of an allocation or a free
  };
  void begin_call(const Call& call);

  // What the program knows the team by, where it has split it off (Teams::named).
  std::uint64_t name = 0;
  // How many contexts the program asked for when it made the team.
  int num_contexts = 0;

  // The members of a team whose PEs are in several clusters. The first one of each cluster is its
  // head: what heads have said to each other they give to the members of their own clusters.
  struct Clusters {
    std::vector<std::vector<std::uint32_t>> members;  // of the team, by cluster
    std::uint32_t own = 0;
    Team* inside = nullptr;  // the members of our own, in the same order

    std::uint32_t count() const { return static_cast<std::uint32_t>(members.size()); }
    std::uint32_t head(std::uint32_t cluster) const { return members[cluster].front(); }
    bool is_head() const { return inside->self() == 0; }
  };
  // Makes collective operations cross each link between clusters as few times as they can. All
  // members call it in the same place; `inside` outlives this.
  void divide(Clusters clusters) { clusters_ = std::move(clusters); }
  // This is the team inside of a cluster: it need not wait for what goes to other clusters.
  void stay_inside();
  // nullptr: all members are in one.
  const Clusters* clusters() const { return clusters_ ? &*clusters_ : nullptr; }

  // Returns when every member has called it. What members stored to memory of their host before is
  // seen by all after; what they put to other hosts is if they called reach().quiet() before.
  void sync();

  // Work that members on a host share, by numbers 0, 1, ... of each member: offered by its owner
  // before a synchronisation, taken by any until the next one, each number once.
  void offer_work() { slots_[self_]->taken.value.store(0, std::memory_order_relaxed); }
  std::uint64_t take_work(std::uint32_t member) {
    return slots_[member]->taken.value.fetch_add(1, std::memory_order_relaxed);
  }
  // On some host not every member has a processor.
  bool crowded() const { return algorithms_->crowded(); }

  // What algorithm serves an operation on `bytes`; the same at all members if the bytes are.
  Algorithm choose(Collective collective, std::uint64_t bytes) const;

  // One operation's cell, the same at every member.
  struct Turn {
    std::uint64_t sequence = 0;
    std::uint32_t cell = 0;
  };
  Turn next_turn();
  // Shows `bytes` <= kCellBytes in our cell to the members on our host.
  void show(Turn turn, const void* data, std::uint64_t bytes);
  // What `member`, whose memory is in reach, shows in this turn; waits for it. Valid until the
  // team's next synchronisation.
  const std::byte* see(Turn turn, std::uint32_t member);
  // Tells a member, near or far, that what we put there before may be used, with small data for
  // it. The member waits by told(), which gives the data.
  void tell(Turn turn, std::uint32_t member, const void* data, std::uint64_t bytes);
  // The same, and puts data of any size first.
  void tell_of(Turn turn, std::uint32_t member, SymmetricAddress to, const void* data,
               std::uint64_t bytes) {
    reach_.put_and_post(pe(member), to, data, bytes, cell_sequence(turn), turn.sequence);
  }
  const std::byte* told(Turn turn) { return see(turn, self_); }
  // Where the data of the turn's cell lie at every member.
  SymmetricAddress cell_place(Turn turn) const {
    return slot_place(slot_,
                      offsetof(Slot, cells) + turn.cell * sizeof(Cell) + offsetof(Cell, data));
  }
  // The operation that ends now took so many turns, and has shown that all members have begun it:
  // the cells of the turns before are free.
  void all_have_come(std::uint32_t turns) { turns_left_ = kCells - turns; }
  // Every member gets `root`'s data, bytes <= kCellBytes. Members of any host.
  void share(std::uint32_t root, void* data, std::uint64_t bytes);

  // The members on our host, in their order, ourselves among them.
  std::span<const std::uint32_t> neighbours() const { return neighbours_; }
  // The first member on each host, in the order of the hosts of the team; on_host(member): the
  // place of a member's host in it.
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
  std::uint32_t turns_left_ = kCells;  // until the slowest member has to be waited for
  std::vector<Slot*> slots_;           // by member; nullptr: on another host
  std::vector<Slot*> partners_;        // by round of a pairwise synchronisation
  std::vector<std::uint32_t> neighbours_;
  std::vector<std::uint32_t> host_firsts_;
  std::uint32_t our_host_ = 0;
  std::optional<Clusters> clusters_;
  std::vector<NodeId> far_pes_;  // of a team inside of a cluster: on other hosts
  bool pairwise_ = false;
  const char* call_ = nullptr;  // the one that lasts, where calls are checked
  std::uint64_t calls_ = 0;
};

}  // namespace terrane::runtime::shmem
