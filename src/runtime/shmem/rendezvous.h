#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::runtime::shmem {

// Where all PEs of a host meet and say yes or no: words of PE 0's control area, zeros at start. It
// serves what cannot rest on the collectives: joining, leaving, and the heap's decisions.
struct MeetingPlace {
  std::atomic<std::uint64_t> arrivals;
  std::atomic<std::uint64_t> refusals[2];  // of rounds in turn
};
// Behind it in the same page: where the static data of libraries lie that are opened at run time.
struct LatePlace {
  std::uint64_t module;  // its identity; 0: the entry is free
  std::uint64_t offset;  // plus one; 0: not known yet
};
struct LatePlaces {
  static constexpr std::uint32_t kEntries = 128;

  std::uint64_t used_bytes;
  LatePlace entries[kEntries];
};

// A PE's side of it. One thread at a time; all PEs meet in the same order.
class Rendezvous {
 public:
  Rendezvous(MeetingPlace& place, std::uint32_t pes) : place_(&place), pes_(pes) {}

  // Says `yes` or no; decided() once all have.
  void arrive(bool yes) {
    ++rounds_;
    if (!yes) place_->refusals[rounds_ % 2].fetch_add(1, std::memory_order_relaxed);
    place_->arrivals.fetch_add(1, std::memory_order_acq_rel);
  }
  bool decided() const {
    return place_->arrivals.load(std::memory_order_acquire) >= rounds_ * pes_;
  }
  // Whether all said yes; after decided(), once a round. The counter belongs to this round until
  // all have arrived at the next one.
  bool agreed() {
    std::uint64_t refusals = place_->refusals[rounds_ % 2].load(std::memory_order_relaxed);
    std::uint64_t before = seen_[rounds_ % 2];
    seen_[rounds_ % 2] = refusals;
    return refusals == before;
  }

 private:
  MeetingPlace* place_;
  std::uint32_t pes_;
  std::uint64_t rounds_ = 0;
  std::uint64_t seen_[2] = {0, 0};
};

}  // namespace terrane::runtime::shmem
