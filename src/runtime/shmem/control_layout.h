#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/shmem/symmetric_memory.h"

namespace terrane::runtime::shmem {

// What lies in the control area of every PE, but for its last page, which is the World's. It is
// zeros at start, and only the pages that are used are ever backed. Numbers that are waited for
// only grow, so that nothing has to be reset, and a PE that still looks at an old place of a team's
// slot when another team has it sees a larger one.

constexpr std::uint64_t kCacheLine = 64;

// A number that is waited for, alone on its cache line.
struct alignas(kCacheLine) Flag {
  std::atomic<std::uint64_t> value;
};

// Small data of one collective operation: the reader waits for the operation's sequence number.
constexpr std::uint64_t kCellBytes = 248;
struct alignas(kCacheLine) Cell {
  std::atomic<std::uint64_t> sequence;
  std::byte data[kCellBytes];
};

constexpr std::uint32_t kRounds = 20;  // of a dissemination: enough for 2^20 PEs
// From this round on the far rounds are those of the clusters' heads.
constexpr std::uint32_t kHeadRounds = 16;
constexpr std::uint32_t kMostClusters = 1u << (kRounds - kHeadRounds);
// A member may have made so many operations more than the slowest one; then the team synchronises
// itself.
constexpr std::uint32_t kCells = 32;

// What a team uses at each of its members.
struct alignas(4096) Slot {
  Flag arrived;   // at the first member on a host: how many of that host have come
  Flag released;  // there: the last synchronisation that is complete
  // Where this team's predecessor in the slot ended. Only the team that has claimed the slot looks
  // at it.
  Flag last_sequence;
  Flag calls;                // how many this member has made, where calls are checked
  Flag taken;                // pieces of this member's segment of arrays that somebody works on
  Flag rounds[kRounds];      // by the member that is 2^round before us
  Flag far_rounds[kRounds];  // at the first member on a host: by the host that is 2^round before
                             // ours
  Cell cells[kCells];
};

constexpr std::uint32_t kSlots = 4096;  // teams and active sets that a PE may be in at a time
constexpr std::uint32_t kWorldSlot = 0;
constexpr std::uint32_t kSharedSlot = 1;
constexpr std::uint32_t kClusterSlot = 2;
constexpr std::uint32_t kProgramSlots = kSlots - 3;  // those that a program may have
constexpr std::uint32_t kSlotWords = kSlots / 64;

// How the members of an active set learn which slot it has: from its first PE, which has an entry
// here at each of them.
struct alignas(kCacheLine) Announcement {
  static constexpr std::uint32_t kEmpty = 0, kBeingWritten = 1, kFull = 2;

  std::atomic<std::uint32_t> state;  // kEmpty, kBeingWritten, kFull; the member empties it
  std::uint32_t start;
  std::uint32_t stride;
  std::uint32_t size;
  std::uint32_t slot;
  std::uint64_t sequence;
};

struct ControlArea {
  std::byte world[4096];                         // for the World itself
  std::atomic<std::uint64_t> taken[kSlotWords];  // a bit for each slot that a team has here
  std::atomic<std::uint64_t> crowded;            // at PE 0: some host has more threads than room
  alignas(4096) Slot slots[kSlots];
  Announcement announcements[1];  // one for each PE of the world
};

static_assert(sizeof(Cell) == 256);
static_assert(sizeof(Slot) == 12288);
static_assert(sizeof(ControlArea) <= (64u << 20));

// Bytes of a control area in a world of `pes`; whole pages.
constexpr std::uint64_t control_bytes(std::uint32_t pes) {
  return (sizeof(ControlArea) + std::uint64_t{pes} * sizeof(Announcement) + 4095) / 4096 * 4096;
}

constexpr SymmetricAddress in_control(std::uint64_t offset) { return {Part::kControl, offset}; }

constexpr SymmetricAddress slot_place(std::uint32_t slot, std::uint64_t offset = 0) {
  return in_control(offsetof(ControlArea, slots) + std::uint64_t{slot} * sizeof(Slot) + offset);
}

constexpr SymmetricAddress taken_place(std::uint32_t slot) {
  return in_control(offsetof(ControlArea, taken) + slot / 64 * sizeof(std::uint64_t));
}

constexpr SymmetricAddress announcement_place(NodeId from) {
  return in_control(offsetof(ControlArea, announcements) + from.value * sizeof(Announcement));
}

}  // namespace terrane::runtime::shmem
