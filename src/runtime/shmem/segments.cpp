#include "runtime/shmem/segments.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include "runtime/shmem/copy.h"

namespace terrane::runtime::shmem {
namespace {

// A piece fits a near cache. Measured on sums of 1 MiB: with the smaller pieces 2 members are a
// tenth faster, with the larger ones 8 members (16 streams of memory) are a fifth faster. Still
// larger pieces gain nothing.
constexpr std::uint64_t kPairPieceBytes = 8 << 10, kNearPieceBytes = 32 << 10;
// Large enough to hide a round trip, and small enough that the pieces of all members fit in memory.
constexpr std::uint64_t kFarPieceBytes = 256 << 10, kFarBytes = 16 << 20;

}  // namespace

std::uint64_t first_for_processor(std::uint64_t count) {
  static const auto processors = static_cast<std::uint64_t>(std::max(get_nprocs_conf(), 1));
  int processor = std::max(sched_getcpu(), 0);
  return count * (static_cast<std::uint64_t>(processor) % processors) / processors;
}

void put_piece(Team& team, std::uint32_t member, SymmetricAddress to, const std::byte* piece,
               std::uint64_t bytes) {
  if (std::byte* here = team.world().memory().at(team.pe(member), to)) {
    copy_ahead(here, piece, bytes);
  } else {
    team.reach().put(team.pe(member), to, piece, bytes);
  }
}

Pieces::Pieces(Team& team, const Arrays& arrays) : team_(&team), arrays_(&arrays) {
  std::uint64_t bytes = team.size() == 2 ? kPairPieceBytes : kNearPieceBytes;
  if (!team.on_one_host()) {
    bytes = std::clamp(kFarBytes / team.size(), kNearPieceBytes, kFarPieceBytes);
  }
  std::uint64_t whole = std::max<std::uint64_t>(arrays.count, 1);
  elements_ = std::min(std::max<std::uint64_t>(bytes / arrays.element_bytes(), 1), whole);
  std::uint64_t piece = elements_ * arrays.element_bytes();
  room_ = std::make_unique_for_overwrite<Line[]>(2 * piece_lines());
  if (!team.on_one_host()) {
    fetched_ = std::make_unique_for_overwrite<std::byte[]>(piece * team.size());
  }
}

void Pieces::fetch(std::uint64_t first, std::uint64_t count) {
  first_ = first;
  if (!fetched_) return;
  std::uint64_t piece = elements_ * arrays_->element_bytes();
  for (std::uint32_t member = 0; member < team_->size(); ++member) {
    NodeId pe = team_->pe(member);
    if (team_->world().memory().in_reach(pe)) continue;
    team_->reach().start_get(pe, arrays_->source + first * arrays_->element_bytes(),
                             fetched_.get() + member * piece, count * arrays_->element_bytes());
  }
  team_->reach().quiet();
}

const std::byte* Pieces::of(std::uint32_t member) const {
  SymmetricAddress place = arrays_->source + first_ * arrays_->element_bytes();
  if (const std::byte* near = team_->world().memory().at(team_->pe(member), place)) return near;
  return fetched_.get() + member * elements_ * arrays_->element_bytes();
}

}  // namespace terrane::runtime::shmem
