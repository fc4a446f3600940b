#include "runtime/shmem/clustered.h"
#include "runtime/shmem/collectives.h"
#include "runtime/shmem/transfer.h"

namespace terrane::runtime::shmem {
namespace {

struct Broadcast {
  void* dest;
  const void* source;
  std::uint64_t bytes;
  std::uint32_t root;
};

// The member whose cell shows that the root has arrived: the root, or the member on our host to
// which the root writes.
std::uint32_t herald(const Team& team, std::uint32_t root) {
  bool near = team.world().memory().in_reach(team.pe(root));
  return near ? root : team.neighbours().front();
}

void tell_other_hosts(Team& team, Team::Turn turn, const void* data, std::uint64_t bytes) {
  for (std::uint32_t first : team.host_firsts()) {
    if (!team.world().memory().in_reach(team.pe(first))) team.tell(turn, first, data, bytes);
  }
}

void broadcast_inline(Team& team, const Broadcast& what) {
  Team::Turn turn = team.next_turn();
  if (team.self() == what.root) {
    team.show(turn, what.source, what.bytes);
    tell_other_hosts(team, turn, what.source, what.bytes);
  } else {
    std::memcpy(what.dest, team.see(turn, herald(team, what.root)), what.bytes);
  }
}

void put_and_tell(Team& team, Team::Turn turn, const Broadcast& what, std::uint32_t member) {
  team.tell_of(turn, member, symmetric(team, what.dest, what.bytes, "dest"), what.source,
               what.bytes);
}

// The root copies to the members of its host, and to one member of each other host, which copies it
// there.
void broadcast_put(Team& team, const Broadcast& what) {
  Team::Turn turn = team.next_turn();
  Broadcast ours = what;
  if (team.self() == what.root) {
    for (std::uint32_t first : team.host_firsts()) {
      if (!team.world().memory().in_reach(team.pe(first))) put_and_tell(team, turn, what, first);
    }
  } else {
    team.told(turn);
    if (team.world().memory().in_reach(team.pe(what.root))) return;
    if (team.self() != team.neighbours().front()) return;
    ours.source = what.dest;
  }
  for (std::uint32_t member : team.neighbours()) {
    if (member != team.self()) put_and_tell(team, turn, ours, member);
  }
}

void broadcast_get(Team& team, const Broadcast& what) {
  Team::Turn turn = team.next_turn();
  if (team.self() == what.root) {
    team.show(turn, nullptr, 0);
    tell_other_hosts(team, turn, nullptr, 0);
  } else {
    team.see(turn, herald(team, what.root));
    SymmetricAddress from = symmetric(team, what.source, what.bytes, "source");
    team.reach().get(team.pe(what.root), from, what.dest, what.bytes);
  }
  team.sync();
}

}  // namespace

void broadcast(Team& team, void* dest, const void* source, std::uint64_t bytes, std::uint32_t root,
               bool root_too) {
  Broadcast what{dest, source, bytes, root};
  if (bytes == 0) return;
  if (team.clusters() != nullptr) {
    clustered::broadcast(team, dest, source, bytes, root);
  } else if (team.size() > 1) {
    switch (team.choose(Collective::kBroadcast, bytes)) {
      case Algorithm::kInline:
        broadcast_inline(team, what);
        break;
      case Algorithm::kGet:
        broadcast_get(team, what);
        break;
      default:
        broadcast_put(team, what);
    }
  }
  if (root_too && team.self() == root) move_bytes(dest, source, bytes);
}

}  // namespace terrane::runtime::shmem
