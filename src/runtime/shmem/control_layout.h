#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/shmem/symmetric_memory.h"

namespace terrane::runtime::shmem {

// The control area of every PE; its first page is for the World. It is zero at start, and only
// pages that are used get memory. Numbers on which PEs wait only grow, so nothing has to be reset:
// a PE that still looks at a team's slot when another team has the slot sees a larger number.

constexpr std::uint64_t kCacheLine = 64;

// A number on which a PE waits, alone on its cache line.
struct alignas(kCacheLine) Flag {
  std::atomic<std::uint64_t> value;
};

// Small data of one collective operation. The reader waits for the operation's sequence number.
constexpr std::uint64_t kCellBytes = 248;
struct alignas(kCacheLine) Cell {
  std::atomic<std::uint64_t> sequence;
  std::byte data[kCellBytes];
};

constexpr std::uint32_t kRounds = 20;  // of a dissemination barrier: enough for 2^20 PEs
// From this index on, far_rounds are for the heads of clusters.
constexpr std::uint32_t kHeadRounds = 16;
constexpr std::uint32_t kMostClusters = 1u << (kRounds - kHeadRounds);
// How many operations a member may be before the slowest one; then the team synchronises.
constexpr std::uint32_t kCells = 32;

// The part of a control area that one team uses at each of its members.
struct alignas(4096) Slot {
  Flag arrived;   // at the first member on a host: members of that host that have arrived
  Flag released;  // at the same member: the last synchronisation that is complete
  // The last sequence number of the slot's former team. Read only by the team that has claimed the
  // slot.
  Flag last_sequence;
  Flag calls;                // calls of this member so far; only if calls are checked
  Flag taken;                // pieces of this member's segment that were taken (Team::take_work)
  Flag rounds[kRounds];      // set by the member 2^round before us
  Flag far_rounds[kRounds];  // at the first member on a host: by the host that is 2^round before
                             // ours
  Cell cells[kCells];
};

constexpr std::uint32_t kSlots = 4096;  // most teams and active sets of a PE at one time
constexpr std::uint32_t kWorldSlot = 0;
constexpr std::uint32_t kSharedSlot = 1;
constexpr std::uint32_t kClusterSlot = 2;
constexpr std::uint32_t kProgramSlots = kSlots - 3;  // of these, for the program
constexpr std::uint32_t kSlotWords = kSlots / 64;

// Carries the slot of an active set to one of its members. The set's first PE has an entry at each
// member.
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
  std::atomic<std::uint64_t> taken[kSlotWords];  // one bit for each slot that a team has here
  std::atomic<std::uint64_t> crowded;            // at PE 0: some host lacks processors for threads
  alignas(4096) Slot slots[kSlots];
  Announcement announcements[1];  // one for each PE of the world
};

static_assert(sizeof(Cell) == 256);
static_assert(sizeof(Slot) == 12288);
static_assert(sizeof(ControlArea) <= (64u << 20));

// The size of a control area in a world of `pes`, in whole pages.
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
