#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/shmem/world.h"

namespace terrane::runtime::shmem {

// The memory of any PE for collectives and locks: by loads and stores where it is mapped here, else
// by the transport. An access that fails ends the job, since nobody could go on without it. Owns
// nothing; any thread.
class Reach {
 public:
  explicit Reach(World& world) : world_(&world) {}

  // Copies; the target sees it after our next synchronisation, or after quiet().
  void put(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes) const {
    if (std::byte* here = world_->memory().at(pe, to)) {
      if (bytes != 0 && here != from) std::memmove(here, from, bytes);
    } else {
      put_far(pe, to, from, bytes);
    }
  }
  void get(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const {
    if (const std::byte* here = world_->memory().at(pe, from)) {
      if (bytes != 0 && here != into) std::memmove(into, here, bytes);
    } else {
      get_far(pe, from, into, bytes);
    }
  }
  // As get(), but of far memory it is there only after quiet().
  void start_get(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const;

  // put(), and then post() of the word: one message where calls are messages.
  void put_and_post(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes,
                    SymmetricAddress word, std::uint64_t value) const;

  // Stores a word that is waited for, after all that we put there before.
  void post(NodeId pe, SymmetricAddress word, std::uint64_t value) const;
  std::uint64_t load(NodeId pe, SymmetricAddress word) const;

  // Of a word that others change by atomics meanwhile.
  std::uint64_t fetch(NodeId pe, SymmetricAddress word) const;

  // Atomics give what was there before.
  std::uint64_t fetch_or(NodeId pe, SymmetricAddress word, std::uint64_t bits) const;
  std::uint64_t fetch_and(NodeId pe, SymmetricAddress word, std::uint64_t bits) const;
  std::uint32_t fetch_or32(NodeId pe, SymmetricAddress word, std::uint32_t bits) const;
  std::uint32_t fetch_and32(NodeId pe, SymmetricAddress word, std::uint32_t bits) const;
  std::uint32_t swap32(NodeId pe, SymmetricAddress word, std::uint32_t value) const;
  std::uint32_t compare_swap32(NodeId pe, SymmetricAddress word, std::uint32_t expected,
                               std::uint32_t value) const;

  // All that this process has put to other hosts is there, and all gets are here.
  void quiet() const;
  // From now on quiet() is toward these PEs alone; they outlive this.
  void limit_quiet(const std::vector<NodeId>* pes) { quiet_toward_ = pes; }

  World& world() const { return *world_; }

 private:
  void put_far(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes) const;
  void get_far(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const;
  template <typename Word>
  Word atomic(NodeId pe, SymmetricAddress word, transport::AtomicOp op, Word operand,
              Word expected = 0) const;

  World* world_;
  const std::vector<NodeId>* quiet_toward_ = nullptr;  // all
};

}  // namespace terrane::runtime::shmem
