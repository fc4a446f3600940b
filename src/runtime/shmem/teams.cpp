#include "runtime/shmem/teams.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kReserved =
    1u << kWorldSlot | 1u << kSharedSlot | 1u << kClusterSlot;  // in the first word

TeamShape whole_world(const World& world) { return {0, 1, world.pes()}; }

// What all PEs of a split's parent agree on.
struct Outcome {
  std::uint64_t made = 0;
  TeamSeat first, second;
  std::int64_t arguments[3] = {};
};

}  // namespace

Teams::Teams(World& world, AlgorithmTable algorithms)
    : world_(&world), reach_(world), algorithms_(std::move(algorithms)) {}

base::Result<std::unique_ptr<Teams>> Teams::start(World& world, bool crowded,
                                                  std::string_view choices) {
  // Not all PEs know yet whether all threads fit; a count works in both cases.
  auto counted = AlgorithmTable::with_choices(crowded, "sync=counter");
  Team beginning(world, counted.value(), whole_world(world), {kWorldSlot, 0});
  SymmetricAddress word = in_control(offsetof(ControlArea, crowded));
  if (crowded) beginning.reach().fetch_or(NodeId{0}, word, 1);
  beginning.sync();
  std::uint64_t any_crowded = beginning.self() == 0 ? beginning.reach().load(NodeId{0}, word) : 0;
  beginning.share(0, &any_crowded, sizeof any_crowded);
  auto algorithms = AlgorithmTable::with_choices(any_crowded != 0, choices);
  if (!algorithms) return algorithms.error();
  std::uint64_t fingerprint = algorithms.value().fingerprint();
  beginning.share(0, &fingerprint, sizeof fingerprint);
  if (fingerprint != algorithms.value().fingerprint()) {
    return base::error(
        "the algorithms of PE {} are not those of PE 0: give TERRANE_SHMEM_ALGORITHM to all PEs "
        "(terrane run -x TERRANE_SHMEM_ALGORITHM), and the same file",
        world.self().value);
  }
  beginning.sync();
  std::unique_ptr<Teams> teams(new Teams(world, std::move(algorithms).value()));
  teams->world_team_ =
      std::make_unique<Team>(world, teams->algorithms_, whole_world(world), beginning.seat());
  teams->shared_team_ = std::make_unique<Team>(world, teams->algorithms_, teams->shared_shape(),
                                               TeamSeat{kSharedSlot, 0});
  teams->divide_world();
  return teams;
}

ControlArea& Teams::control() const {
  return *reinterpret_cast<ControlArea*>(world_->memory().at(world_->self(), in_control(0)));
}

TeamShape Teams::list(std::vector<NodeId> pes) {
  lists_.push_back(std::make_unique<std::vector<NodeId>>(std::move(pes)));
  TeamShape shape{lists_.back()->front().value, 0, 0, lists_.back().get()};
  shape.size = static_cast<std::uint32_t>(lists_.back()->size());
  return shape;
}

TeamShape Teams::shared_shape() {
  std::vector<NodeId> here;
  for (std::uint32_t pe = 0; pe < world_->pes(); ++pe) {
    if (world_->memory().in_reach(NodeId{pe})) here.push_back(NodeId{pe});
  }
  return shape_of(std::move(here));
}

// A shape with these PEs, in the order of the world.
TeamShape Teams::shape_of(std::vector<NodeId> pes) {
  TeamShape shape{pes.front().value, 1, static_cast<std::uint32_t>(pes.size())};
  if (pes.size() > 1) shape.stride = static_cast<std::int32_t>(pes[1].value - pes[0].value);
  for (std::uint32_t member = 0; member < shape.size; ++member) {
    if (shape.world_pe(member) != pes[member]) return list(std::move(pes));
  }
  return shape;
}

void Teams::divide_world() {
  Team::Clusters clusters{.own = world_->cluster_of(world_->self())};
  for (std::uint32_t pe = 0; pe < world_->pes(); ++pe) {
    std::uint32_t cluster = world_->cluster_of(NodeId{pe});
    if (cluster >= clusters.members.size()) clusters.members.resize(cluster + 1);
    clusters.members[cluster].push_back(pe);
  }
  if (clusters.count() == 1 || clusters.count() > kMostClusters) return;
  std::vector<NodeId> ours;
  for (std::uint32_t pe : clusters.members[clusters.own]) ours.push_back(NodeId{pe});
  cluster_team_ = std::make_unique<Team>(*world_, algorithms_, shape_of(std::move(ours)),
                                         TeamSeat{kClusterSlot, 0});
  cluster_team_->stay_inside();
  clusters.inside = cluster_team_.get();
  world_team_->divide(std::move(clusters));
}

std::optional<TeamShape> Teams::part_of(const TeamShape& parent, std::int64_t start,
                                        std::int64_t stride, std::int64_t size) {
  std::int64_t pes = parent.size;
  if (size < 1 || size > pes || start < 0 || start >= pes) return std::nullopt;
  if (size == 1) stride = 1;  // any stride is valid then
  if (stride < -pes || stride > pes || stride == 0) return std::nullopt;
  std::int64_t last = start + stride * (size - 1);
  if (last < 0 || last >= pes) return std::nullopt;
  auto member = [&](std::int64_t i) {
    return parent.world_pe(static_cast<std::uint32_t>(start + stride * i));
  };
  if (parent.listed == nullptr) {
    return TeamShape{member(0).value, static_cast<std::int32_t>(parent.stride * stride),
                     static_cast<std::uint32_t>(size)};
  }
  std::vector<NodeId> found;
  for (std::int64_t i = 0; i < size; ++i) found.push_back(member(i));
  std::lock_guard held(lock_);
  return list(std::move(found));
}

std::uint64_t Teams::taken_word(const TeamShape& shape, std::uint32_t word) {
  std::uint64_t taken = word == 0 ? kReserved : 0;
  for (std::uint32_t member = 0; member < shape.size; ++member) {
    taken |= reach_.fetch(shape.world_pe(member), taken_place(word * 64));
  }
  return taken;
}

void Teams::release_slot(NodeId pe, std::uint32_t slot) {
  reach_.fetch_and(pe, taken_place(slot), ~(std::uint64_t{1} << slot % 64));
}

bool Teams::claim_slot(const TeamShape& shape, std::uint32_t slot) {
  std::uint64_t bit = std::uint64_t{1} << slot % 64;
  for (std::uint32_t member = 0; member < shape.size; ++member) {
    if ((reach_.fetch_or(shape.world_pe(member), taken_place(slot), bit) & bit) == 0) continue;
    while (member-- > 0) release_slot(shape.world_pe(member), slot);
    return false;
  }
  return true;
}

std::uint64_t Teams::last_sequence(const TeamShape& shape, std::uint32_t slot) {
  std::uint64_t last = 0;
  SymmetricAddress place = slot_place(slot, offsetof(Slot, last_sequence));
  for (std::uint32_t member = 0; member < shape.size; ++member) {
    last = std::max(last, reach_.load(shape.world_pe(member), place));
  }
  return last;
}

std::optional<TeamSeat> Teams::claim(const TeamShape& shape) {
  for (std::uint32_t word = 0; word < kSlotWords; ++word) {
    for (std::uint64_t free = ~taken_word(shape, word); free != 0; free &= free - 1) {
      std::uint32_t slot = word * 64 + static_cast<std::uint32_t>(std::countr_zero(free));
      if (claim_slot(shape, slot)) return TeamSeat{slot, last_sequence(shape, slot)};
    }
  }
  return std::nullopt;
}

Team* Teams::enter(const TeamShape& shape, TeamSeat seat) {
  if (shape.member(world_->self()) < 0) return nullptr;
  auto team = std::make_unique<Team>(*world_, algorithms_, shape, seat);
  std::lock_guard held(lock_);
  team->name = ++splits_ * kSlots + seat.slot;
  by_slot_[seat.slot].store(team.get(), std::memory_order_release);
  split_.push_back(std::move(team));
  return split_.back().get();
}

Teams::Split Teams::split_strided(Team& parent, std::int64_t start, std::int64_t stride,
                                  std::int64_t size) {
  std::optional<TeamShape> shape = part_of(parent.shape(), start, stride, size);
  Outcome outcome{0, {}, {}, {start, stride, size}};
  if (parent.self() == 0 && shape) {
    std::optional<TeamSeat> seat = claim(*shape);
    outcome.made = seat.has_value();
    outcome.first = seat.value_or(TeamSeat{});
  }
  parent.share(0, &outcome, sizeof outcome);
  if (outcome.arguments[0] != start || outcome.arguments[1] != stride ||
      outcome.arguments[2] != size) {
    world_->fail(fmt::format(
        "shmem_team_split_strided: start {}, stride {}, size {}, but PE {} has {}, {}, {}: all PEs "
        "of the parent team must give the same",
        start, stride, size, parent.pe(0).value, outcome.arguments[0], outcome.arguments[1],
        outcome.arguments[2]));
  }
  if (outcome.made == 0) return {};
  return {true, enter(*shape, outcome.first)};
}

Teams::Split2d Teams::split_2d(Team& parent, std::int64_t x_range) {
  Outcome outcome{0, {}, {}, {x_range, 0, 0}};
  if (parent.self() == 0 && x_range > 0) {
    // All rows have one slot, since they have no PE in common; so have all columns.
    std::optional<TeamSeat> rows = claim(parent.shape());
    std::optional<TeamSeat> columns = rows ? claim(parent.shape()) : std::nullopt;
    for (std::uint32_t member = 0; rows && !columns && member < parent.size(); ++member) {
      release_slot(parent.pe(member), rows->slot);
    }
    outcome.made = columns.has_value();
    outcome.first = rows.value_or(TeamSeat{});
    outcome.second = columns.value_or(TeamSeat{});
  }
  parent.share(0, &outcome, sizeof outcome);
  if (outcome.arguments[0] != x_range) {
    world_->fail(
        fmt::format("shmem_team_split_2d: xrange {}, but PE {} has {}: all PEs of the "
                    "parent team must give the same",
                    x_range, parent.pe(0).value, outcome.arguments[0]));
  }
  if (outcome.made == 0) return {};
  std::int64_t pes = parent.size(), me = parent.self();
  std::int64_t width = std::min(x_range, pes), x = me % width, row = me - x;
  auto x_shape = part_of(parent.shape(), row, 1, std::min(width, pes - row));
  auto y_shape = part_of(parent.shape(), x, width, (pes - x + width - 1) / width);
  return {true, enter(*x_shape, outcome.first), enter(*y_shape, outcome.second)};
}

// The slot may get a new team at once. A PE that still looks at our numbers there sees larger ones.
void Teams::destroy(Team& team) {
  team.sync();
  TeamSeat seat = team.seat();
  control().slots[seat.slot].last_sequence.value.store(seat.sequence, std::memory_order_release);
  by_slot_[seat.slot].store(nullptr, std::memory_order_relaxed);
  release_slot(world_->self(), seat.slot);
  std::lock_guard held(lock_);
  std::erase_if(split_, [&](const auto& owned) { return owned.get() == &team; });
}

}  // namespace terrane::runtime::shmem
