#include "runtime/shmem/team.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/check.h"

namespace terrane::runtime::shmem {
Team::Team(World& world, const AlgorithmTable& algorithms, const TeamShape& shape, TeamSeat seat)
    : world_(&world),
      algorithms_(&algorithms),
      reach_(world),
      shape_(shape),
      slot_(seat.slot),
      self_(static_cast<std::uint32_t>(shape.member(world.self()))),
      sequence_(seat.sequence) {
  slots_.reserve(shape_.size);
  for (std::uint32_t member = 0; member < shape_.size; ++member) {
    slots_.push_back(slot_at(pe(member)));
  }
  find_hosts();
  pairwise_ = on_one_host() && choose(Collective::kSync, 0) == Algorithm::kPairwise;
  for (std::uint64_t distance = 1; distance < shape_.size; distance *= 2) {
    partners_.push_back(slots_[(self_ + distance) % shape_.size]);
  }
}

Slot* Team::slot_at(NodeId pe) const {
  return reinterpret_cast<Slot*>(world_->memory().at(pe, slot_place(slot_)));
}

void Team::find_hosts() {
  std::map<std::uint32_t, std::uint32_t> place;  // by host of the world: its index in host_firsts_
  for (std::uint32_t member = 0; member < shape_.size; ++member) {
    std::uint32_t host = world_->host_of(pe(member));
    auto [found, is_new] = place.emplace(host, static_cast<std::uint32_t>(host_firsts_.size()));
    if (is_new) host_firsts_.push_back(member);
    if (slots_[member] != nullptr) neighbours_.push_back(member);
    if (member == self_) our_host_ = found->second;
  }
}

std::uint32_t Team::first_near(std::uint32_t member) const {
  for (std::uint32_t first : host_firsts_) {
    if (world_->host_of(pe(first)) == world_->host_of(pe(member))) return first;
  }
  TERRANE_CHECK(false, "every host of a team has a first member");
}

void Team::stay_inside() {
  for (std::uint32_t member = 0; member < shape_.size; ++member) {
    if (slots_[member] == nullptr) far_pes_.push_back(pe(member));
  }
  reach_.limit_quiet(&far_pes_);
}

Algorithm Team::choose(Collective collective, std::uint64_t bytes) const {
  return algorithms_->choose({collective, bytes, shape_.size, on_one_host()});
}

void Team::wait_for(const std::atomic<std::uint64_t>& flag, std::uint64_t sequence) {
  world_->wait_until([&] { return flag.load(std::memory_order_acquire) >= sequence; },
                     [&](double seconds) { tell_of_wait(seconds); });
}

void Team::sync() {
  ++sequence_;
  turns_left_ = kCells;
  if (shape_.size == 1) return;
  if (clusters_) return sync_clusters();
  if (pairwise_) {
    sync_pairwise();
  } else {
    sync_counted();
  }
}

// After round r each member knows that the 2^(r+1) members before it have arrived.
void Team::sync_pairwise() {
  Slot& own = *slots_[self_];
  for (std::size_t round = 0; round < partners_.size(); ++round) {
    partners_[round]->rounds[round].value.store(sequence_, std::memory_order_release);
    wait_for(own.rounds[round].value, sequence_);
  }
}

// On each host one member releases the others when all have arrived. On a team's only host it is
// the last to arrive. If there are several hosts, it is always the first member of the host, which
// also synchronises with the other hosts. If different members did, their stores to another host's
// flag could overtake each other, and the older value would remain.
void Team::sync_counted() {
  Slot& home = *slots_[neighbours_.front()];
  std::uint64_t come = home.arrived.value.fetch_add(1, std::memory_order_acq_rel) + 1;
  bool leads = on_one_host() ? come == neighbours_.size() : neighbours_.front() == self_;
  if (!leads) return wait_for(home.released.value, sequence_);
  if (come < neighbours_.size()) wait_for(home.arrived.value, neighbours_.size());
  home.arrived.value.store(0, std::memory_order_relaxed);
  if (!on_one_host()) sync_hosts(home);
  home.released.value.store(sequence_, std::memory_order_release);
}

void Team::sync_hosts(Slot& home) {
  std::uint32_t round = 0;
  for (std::uint64_t distance = 1; distance < host_firsts_.size(); distance *= 2, ++round) {
    std::uint32_t partner = host_firsts_[(our_host_ + distance) % host_firsts_.size()];
    std::uint64_t flag = offsetof(Slot, far_rounds) + round * sizeof(Flag);
    reach_.post(pe(partner), slot_place(slot_, flag), sequence_);
    wait_for(home.far_rounds[round].value, sequence_);
  }
}

// First all members of the cluster arrive, then the heads wait for the other clusters, then the
// head releases its cluster.
void Team::sync_clusters() {
  Team& inside = *clusters_->inside;
  inside.sync();
  std::uint32_t round = kHeadRounds;
  for (std::uint32_t distance = 1; clusters_->is_head() && distance < clusters_->count();
       distance *= 2, ++round) {
    std::uint32_t partner = clusters_->head((clusters_->own + distance) % clusters_->count());
    std::uint64_t flag = offsetof(Slot, far_rounds) + round * sizeof(Flag);
    reach_.post(pe(partner), slot_place(slot_, flag), sequence_);
    wait_for(slots_[self_]->far_rounds[round].value, sequence_);
  }
  std::byte go{};
  inside.share(0, &go, sizeof go);
}

Team::Turn Team::next_turn() {
  if (turns_left_ == 0) sync();
  --turns_left_;
  return {++sequence_, turns_++ % kCells};
}

void Team::show(Turn turn, const void* data, std::uint64_t bytes) {
  Cell& cell = slots_[self_]->cells[turn.cell];
  if (bytes != 0) std::memcpy(cell.data, data, bytes);
  cell.sequence.store(turn.sequence, std::memory_order_release);
}

const std::byte* Team::see(Turn turn, std::uint32_t member) {
  Cell& cell = slots_[member]->cells[turn.cell];
  wait_for(cell.sequence, turn.sequence);
  return cell.data;
}

void Team::tell(Turn turn, std::uint32_t member, const void* data, std::uint64_t bytes) {
  if (Slot* near = slots_[member]) {
    Cell& cell = near->cells[turn.cell];
    if (bytes != 0) std::memcpy(cell.data, data, bytes);
    cell.sequence.store(turn.sequence, std::memory_order_release);
    return;
  }
  tell_of(turn, member, cell_place(turn), data, bytes);
}

// The root sends to the heads of the other clusters.
void Team::share_in_clusters(std::uint32_t root, void* data, std::uint64_t bytes) {
  Turn turn = next_turn();
  std::int64_t own_root = clusters_->inside->shape().member(pe(root));
  if (self_ == root) {
    for (std::uint32_t cluster = 0; cluster < clusters_->count(); ++cluster) {
      if (cluster != clusters_->own) tell(turn, clusters_->head(cluster), data, bytes);
    }
  } else if (own_root < 0 && clusters_->is_head()) {
    std::memcpy(data, told(turn), bytes);
  }
  std::int64_t shown_by = std::max<std::int64_t>(own_root, 0);
  clusters_->inside->share(static_cast<std::uint32_t>(shown_by), data, bytes);
}

void Team::share(std::uint32_t root, void* data, std::uint64_t bytes) {
  if (clusters_) return share_in_clusters(root, data, bytes);
  Turn turn = next_turn();
  if (self_ == root) {
    show(turn, data, bytes);
    for (std::uint32_t first : host_firsts_) {
      if (slots_[first] == nullptr) tell(turn, first, data, bytes);
    }
    return;
  }
  std::uint32_t shown_by = slots_[root] != nullptr ? root : neighbours_.front();
  std::memcpy(data, see(turn, shown_by), bytes);
}

}  // namespace terrane::runtime::shmem
