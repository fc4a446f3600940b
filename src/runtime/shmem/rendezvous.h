#pragma once

#include <cstddef>
#include <cstdint>

namespace terrane::runtime::shmem {

// A rendezvous at which all PEs say yes or no: the first words of PE 0's control area, zero at
// start. It is for what cannot use the collectives: joining, leaving, and decisions about the heap.
struct MeetingPlace {
  std::uint64_t arrivals;
  std::uint64_t refusals[2];  // of even and of odd rounds
  std::uint64_t departures;   // PEs that will not read this page again, at the end
};
// In the same page: the offset of the static data of one library that was opened at run time.
struct LatePlace {
  std::uint64_t module;  // identity of the library; 0: the entry is free
  std::uint64_t offset;  // plus one; 0: not known yet
};
struct LatePlaces {
  static constexpr std::uint32_t kEntries = 128;

  std::uint64_t used_bytes;
  LatePlace entries[kEntries];
};

// The page of PE 0's control area for the World.
struct WorldPage {
  MeetingPlace meeting;
  LatePlaces late;
};
static_assert(sizeof(WorldPage) <= 4096);

// Access from any PE to the words of PE 0's WorldPage.
class WorldWords {
 public:
  virtual ~WorldWords() = default;
  virtual std::uint64_t load(std::uint64_t offset) = 0;
  // Returns the old word.
  virtual std::uint64_t add(std::uint64_t offset, std::uint64_t value) = 0;
  virtual std::uint64_t compare_swap(std::uint64_t offset, std::uint64_t expected,
                                     std::uint64_t value) = 0;
};

// One PE's side of the rendezvous. One thread at a time; all PEs arrive in the same order.
class Rendezvous {
 public:
  Rendezvous(WorldWords& words, std::uint32_t pes) : words_(words), pes_(pes) {}

  // Says `yes` or no. decided() is true when all PEs have.
  void arrive(bool yes) {
    ++rounds_;
    if (!yes) words_.add(refusals(), 1);
    words_.add(offsetof(MeetingPlace, arrivals), 1);
  }
  bool decided() { return words_.load(offsetof(MeetingPlace, arrivals)) >= rounds_ * pes_; }
  // Whether all said yes. Called after decided(), once a round, and before this PE arrives at the
  // next round: until all have arrived there, no PE adds to this round's counter.
  bool agreed() {
    std::uint64_t now = words_.load(refusals());
    std::uint64_t before = seen_[rounds_ % 2];
    seen_[rounds_ % 2] = now;
    return now == before;
  }

  // After the last decision: all PEs except PE 0 call depart(); PE 0 waits for all_departed().
  void depart() { words_.add(offsetof(MeetingPlace, departures), 1); }
  bool all_departed() {
    return words_.load(offsetof(MeetingPlace, departures)) >= (departures_ + 1) * (pes_ - 1);
  }
  void end() { ++departures_; }

 private:
  std::uint64_t refusals() const {
    return offsetof(MeetingPlace, refusals) + rounds_ % 2 * sizeof(std::uint64_t);
  }

  WorldWords& words_;
  std::uint32_t pes_;
  std::uint64_t rounds_ = 0;
  std::uint64_t departures_ = 0;
  std::uint64_t seen_[2] = {0, 0};
};

}  // namespace terrane::runtime::shmem
