#include "runtime/shmem/clustered.h"

#include <algorithm>
#include <numeric>

#include "runtime/shmem/transfer.h"

namespace terrane::runtime::shmem::clustered {
namespace {

using Clusters = Team::Clusters;
using Members = std::vector<std::uint32_t>;

// The heads carry data up to this size alone; of more, each member carries a part.
constexpr std::uint64_t kMostCarriedByHead = 64 << 10;
// Most bytes of one PE's blocks together that are gathered into one message.
constexpr std::uint64_t kMostGathered = 32 << 10;
// How much of the clusters' sums is combined at a time; it bounds the memory.
constexpr std::uint64_t kMostCombined = 32 << 20;
constexpr std::uint32_t kSizesInCell = kCellBytes / sizeof(std::uint64_t);
constexpr std::uint32_t kMostSizeTurns = kCells / 2;

// The member of a cluster that carries for the member with this index in another cluster.
std::uint32_t carrier(const Members& members, std::size_t index) {
  return members[index % members.size()];
}

// Calls visit(index) for the members of another cluster for which our cluster's member `own`
// carries.
template <typename Visit>
void for_each_carried(const Members& others, std::uint32_t own, std::size_t carriers, Visit visit) {
  for (std::size_t index = own; index < others.size(); index += carriers) visit(others[index]);
}

// Calls visit(first, last) for members whose numbers follow each other: their blocks are one piece.
template <typename Visit>
void for_each_run(const Members& members, Visit visit) {
  for (std::size_t first = 0; first < members.size();) {
    std::size_t last = first;
    while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
    visit(members[first], members[last]);
    first = last + 1;
  }
}

// Calls visit(cluster) for all other clusters, beginning with the next one, so that no two clusters
// notify the same one at once.
template <typename Visit>
void for_each_other(const Clusters& clusters, Visit visit) {
  for (std::uint32_t distance = 1; distance < clusters.count(); ++distance)
    visit((clusters.own + distance) % clusters.count());
}

// One turn for each distance between two clusters: a member hears from one member of each cluster.
class DistanceTurns {
 public:
  explicit DistanceTurns(Team& team) : clusters_(*team.clusters()) {
    for (std::uint32_t distance = 1; distance < clusters_.count(); ++distance)
      turns_.push_back(team.next_turn());
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(turns_.size()); }
  Team::Turn to(std::uint32_t cluster) const { return between(clusters_.own, cluster); }
  Team::Turn from(std::uint32_t cluster) const { return between(cluster, clusters_.own); }

 private:
  Team::Turn between(std::uint32_t from, std::uint32_t to) const {
    return turns_[(to + clusters_.count() - from) % clusters_.count() - 1];
  }

  const Clusters& clusters_;
  std::vector<Team::Turn> turns_;
};

// Puts the blocks of these members from our dest to a peer's dest; the last put notifies the peer.
void tell_of_runs(Team& team, Team::Turn turn, std::uint32_t peer, const Members& members,
                  SymmetricAddress to, const std::byte* dest, const Blocks& blocks) {
  struct Piece {
    std::uint64_t start = 0, bytes = 0;
  } last;
  for_each_run(members, [&](std::uint32_t first, std::uint32_t end) {
    Piece piece{blocks.starts[first], blocks.end(end) - blocks.starts[first]};
    if (piece.bytes == 0) return;
    if (last.bytes != 0)
      team.reach().put(team.pe(peer), to + last.start, dest + last.start, last.bytes);
    last = piece;
  });
  team.tell_of(turn, peer, to + last.start, dest + last.start, last.bytes);
}

std::uint64_t largest_cluster_bytes(const Clusters& clusters, const Blocks& blocks) {
  std::uint64_t largest = 0;
  for (const Members& members : clusters.members) {
    std::uint64_t bytes = 0;
    for (std::uint32_t member : members) bytes += blocks.sizes[member];
    largest = std::max(largest, bytes);
  }
  return largest;
}

// Gives all members of our cluster all blocks of the cluster.
void gather_inside(Team& team, SymmetricAddress to, const void* source, const Blocks& blocks) {
  Team& inside = *team.clusters()->inside;
  for_each_member(inside, [&](std::uint32_t member) {
    team.reach().put(inside.pe(member), to + blocks.starts[team.self()], source,
                     blocks.sizes[team.self()]);
  });
  inside.reach().quiet();
  inside.sync();
}

void gather_by_heads(Team& team, SymmetricAddress to, const std::byte* dest, const Blocks& blocks) {
  const Clusters& clusters = *team.clusters();
  DistanceTurns turns(team);
  Team::Turn hand_on = team.next_turn();
  team.all_have_come(turns.count() + 1);
  if (!clusters.is_head()) {
    team.told(hand_on);
    return;
  }
  for_each_other(clusters, [&](std::uint32_t cluster) {
    tell_of_runs(team, turns.to(cluster), clusters.head(cluster), clusters.members[clusters.own],
                 to, dest, blocks);
  });
  Members far;
  for_each_other(clusters, [&](std::uint32_t cluster) {
    team.told(turns.from(cluster));
    far.insert(far.end(), clusters.members[cluster].begin(), clusters.members[cluster].end());
  });
  std::sort(far.begin(), far.end());
  for (std::uint32_t member : clusters.members[clusters.own]) {
    if (member != team.self()) tell_of_runs(team, hand_on, member, far, to, dest, blocks);
  }
}

void gather_by_all(Team& team, SymmetricAddress to, const std::byte* dest, const Blocks& blocks) {
  const Clusters& clusters = *team.clusters();
  Team& inside = *clusters.inside;
  std::uint64_t start = blocks.starts[team.self()], bytes = blocks.sizes[team.self()];
  for_each_other(clusters, [&](std::uint32_t cluster) {
    std::uint32_t peer = carrier(clusters.members[cluster], inside.self());
    team.reach().put(team.pe(peer), to + start, dest + start, bytes);
  });
  team.reach().quiet();
  team.sync();
  for_each_other(clusters, [&](std::uint32_t cluster) {
    for_each_carried(clusters.members[cluster], inside.self(), inside.size(),
                     [&](std::uint32_t from) {
                       for_each_member(inside, [&](std::uint32_t member) {
                         if (member == inside.self()) return;
                         team.reach().put(inside.pe(member), to + blocks.starts[from],
                                          dest + blocks.starts[from], blocks.sizes[from]);
                       });
                     });
  });
  inside.reach().quiet();
  inside.sync();
}

// The part of an array that one member of a cluster combines with the parts of other clusters.
struct Part {
  std::uint64_t first, bytes;
};
Part part_of(const Team& inside, std::uint64_t count, std::uint64_t element_bytes) {
  std::uint64_t share = (count + inside.size() - 1) / inside.size();
  std::uint64_t first = std::min(count, share * inside.self());
  return {first * element_bytes, (std::min(count, first + share) - first) * element_bytes};
}

// Combines the clusters' sums, which are in their members' dest, to one. Always in the clusters'
// order, so that all get the same bits.
void combine_sums(Team& team, std::byte* dest, std::uint64_t count, const Combine& operation) {
  const Clusters& clusters = *team.clusters();
  Team& inside = *clusters.inside;
  SymmetricAddress place = symmetric(team, dest, count * operation.element_bytes, "dest");
  Part part = part_of(inside, count, operation.element_bytes);
  auto sums = std::make_unique_for_overwrite<std::byte[]>(part.bytes * clusters.count());
  team.sync();
  for (std::uint32_t cluster = 0; cluster < clusters.count(); ++cluster) {
    std::uint32_t from =
        cluster == clusters.own ? team.self() : carrier(clusters.members[cluster], inside.self());
    if (part.bytes == 0) break;
    team.reach().start_get(team.pe(from), place + part.first, sums.get() + cluster * part.bytes,
                           part.bytes);
  }
  team.reach().quiet();
  team.sync();
  for (std::uint32_t cluster = 1; cluster < clusters.count() && part.bytes != 0; ++cluster)
    operation.combine(sums.get(), sums.get(), sums.get() + cluster * part.bytes,
                      part.bytes / operation.element_bytes);
  for_each_member(inside, [&](std::uint32_t member) {
    team.reach().put(inside.pe(member), place + part.first, sums.get(), part.bytes);
  });
  inside.reach().quiet();
  inside.sync();
}

void reduce_small(Team& team, void* dest, const void* source, std::uint64_t count,
                  const Combine& operation) {
  const Clusters& clusters = *team.clusters();
  std::uint64_t bytes = count * operation.element_bytes;
  alignas(kCacheLine) std::byte sum[kCellBytes];
  shmem::reduce(*clusters.inside, dest, source, count, operation);
  DistanceTurns turns(team);
  team.all_have_come(turns.count());
  if (clusters.is_head()) {
    for_each_other(clusters, [&](std::uint32_t cluster) {
      team.tell(turns.to(cluster), clusters.head(cluster), dest, bytes);
    });
    auto sum_of = [&](std::uint32_t cluster) -> const void* {
      return cluster == clusters.own ? dest : team.told(turns.from(cluster));
    };
    std::memcpy(sum, sum_of(0), bytes);
    for (std::uint32_t cluster = 1; cluster < clusters.count(); ++cluster)
      operation.combine(sum, sum, sum_of(cluster), count);
  }
  clusters.inside->share(0, sum, bytes);
  std::memcpy(dest, sum, bytes);
}

}  // namespace

void broadcast(Team& team, void* dest, const void* source, std::uint64_t bytes,
               std::uint32_t root) {
  const Clusters& clusters = *team.clusters();
  if (bytes <= kCellBytes) {
    alignas(kCacheLine) std::byte data[kCellBytes];
    if (team.self() == root) std::memcpy(data, source, bytes);
    team.share(root, data, bytes);
    if (team.self() != root) std::memcpy(dest, data, bytes);
    return;
  }
  Team::Turn turn = team.next_turn();
  std::int64_t own_root = clusters.inside->shape().member(team.pe(root));
  if (team.self() == root) {
    SymmetricAddress to = symmetric(team, dest, bytes, "dest");
    for_each_other(clusters, [&](std::uint32_t cluster) {
      team.tell_of(turn, clusters.head(cluster), to, source, bytes);
    });
  }
  if (own_root >= 0) {
    return shmem::broadcast(*clusters.inside, dest, source, bytes,
                            static_cast<std::uint32_t>(own_root), false);
  }
  if (clusters.is_head()) team.told(turn);
  shmem::broadcast(*clusters.inside, dest, dest, bytes, 0, false);
}

void gather(Team& team, void* dest, const void* source, const Blocks& blocks) {
  std::uint64_t total = std::accumulate(blocks.sizes.begin(), blocks.sizes.end(), std::uint64_t{0});
  SymmetricAddress to = symmetric(team, dest, total, "dest");
  gather_inside(team, to, source, blocks);
  const auto* here = static_cast<const std::byte*>(dest);
  if (largest_cluster_bytes(*team.clusters(), blocks) <= kMostCarriedByHead) {
    gather_by_heads(team, to, here, blocks);
  } else {
    gather_by_all(team, to, here, blocks);
  }
}

bool may_exchange_sizes(const Clusters& clusters) {
  std::size_t turns = 0;
  for (const Members& members : clusters.members)
    turns += (members.size() + kSizesInCell - 1) / kSizesInCell;
  return turns <= kMostSizeTurns;
}

std::vector<std::uint64_t> exchange_sizes(Team& team, std::uint64_t bytes) {
  const Clusters& clusters = *team.clusters();
  std::vector<std::uint64_t> sizes(team.size());
  std::vector<std::uint64_t> ours = shmem::exchange_sizes(*clusters.inside, bytes);
  for (std::uint32_t cluster = 0; cluster < clusters.count(); ++cluster) {
    const Members& members = clusters.members[cluster];
    for (std::size_t first = 0; first < members.size(); first += kSizesInCell) {
      std::uint64_t cell[kSizesInCell] = {};
      std::size_t count = std::min<std::size_t>(kSizesInCell, members.size() - first);
      if (cluster == clusters.own) std::copy_n(&ours[first], count, cell);
      team.share(clusters.head(cluster), cell, count * sizeof cell[0]);
      for (std::size_t i = 0; i < count; ++i) sizes[members[first + i]] = cell[i];
    }
  }
  return sizes;
}

bool alltoall_pays(const Team& team, std::uint64_t bytes) {
  std::size_t largest = 0;
  for (const Members& members : team.clusters()->members)
    largest = std::max(largest, members.size());
  return bytes * largest <= kMostGathered;
}

// One member of each cluster gathers its cluster's blocks for a PE of another cluster.
void alltoall(Team& team, void* dest, const void* source, std::uint64_t bytes) {
  const Clusters& clusters = *team.clusters();
  Team& inside = *clusters.inside;
  const Members& ours = clusters.members[clusters.own];
  SymmetricAddress from = symmetric(team, source, bytes * team.size(), "source");
  SymmetricAddress to = symmetric(team, dest, bytes * team.size(), "dest");
  Blocks blocks;
  for (std::uint32_t member = 0; member < team.size(); ++member)
    blocks.starts.push_back(member * bytes);
  blocks.sizes.assign(team.size(), bytes);
  auto gathered = std::make_unique_for_overwrite<std::byte[]>(bytes * team.size());
  auto collect = [&](std::uint32_t receiver, std::byte* into) {
    for (std::uint32_t member : ours)
      team.reach().start_get(team.pe(member), from + receiver * bytes, into + member * bytes,
                             bytes);
    inside.reach().quiet();
  };
  DistanceTurns turns(team);
  team.all_have_come(turns.count());
  inside.sync();
  for_each_other(clusters, [&](std::uint32_t cluster) {
    for_each_carried(
        clusters.members[cluster], inside.self(), inside.size(), [&](std::uint32_t receiver) {
          collect(receiver, gathered.get());
          tell_of_runs(team, turns.to(cluster), receiver, ours, to, gathered.get(), blocks);
        });
  });
  collect(team.self(), static_cast<std::byte*>(dest));
  for_each_other(clusters, [&](std::uint32_t cluster) { team.told(turns.from(cluster)); });
  inside.sync();
}

void reduce(Team& team, void* dest, const void* source, std::uint64_t count,
            const Combine& operation) {
  if (count * operation.element_bytes <= kCellBytes)
    return reduce_small(team, dest, source, count, operation);
  const Clusters& clusters = *team.clusters();
  shmem::reduce(*clusters.inside, dest, source, count, operation);
  std::uint64_t round =
      std::max<std::uint64_t>(kMostCombined / clusters.count() / operation.element_bytes, 1);
  for (std::uint64_t first = 0; first < count; first += round)
    combine_sums(team, static_cast<std::byte*>(dest) + first * operation.element_bytes,
                 std::min(round, count - first), operation);
}

}  // namespace terrane::runtime::shmem::clustered
