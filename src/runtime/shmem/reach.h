#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/shmem/world.h"

namespace terrane::runtime::shmem {

// Access to the memory of any PE, for collectives and locks: by loads and stores if it is mapped
// here, otherwise by the transport. An access that fails ends the job, because no PE could go on.
// Owns nothing; any thread may call.
class Reach {
 public:
  explicit Reach(World& world) : world_(&world) {}

  // Copies; the target sees the bytes after our next synchronisation, or after quiet().
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
  // Like get(), but bytes of far memory have arrived only after quiet().
  void start_get(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const;

  // put(), then post() of the word; one message if the transport uses messages.
  void put_and_post(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes,
                    SymmetricAddress word, std::uint64_t value) const;

  // Stores a word on which a PE waits, after everything that we put to that PE before.
  void post(NodeId pe, SymmetricAddress word, std::uint64_t value) const;
  std::uint64_t load(NodeId pe, SymmetricAddress word) const;

  // Loads a word that other PEs may change by atomics at the same time.
  std::uint64_t fetch(NodeId pe, SymmetricAddress word) const;

  // Atomic operations; return the old word.
  std::uint64_t fetch_or(NodeId pe, SymmetricAddress word, std::uint64_t bits) const;
  std::uint64_t fetch_and(NodeId pe, SymmetricAddress word, std::uint64_t bits) const;
  std::uint32_t fetch_or32(NodeId pe, SymmetricAddress word, std::uint32_t bits) const;
  std::uint32_t fetch_and32(NodeId pe, SymmetricAddress word, std::uint32_t bits) const;
  std::uint32_t swap32(NodeId pe, SymmetricAddress word, std::uint32_t value) const;
  std::uint32_t compare_swap32(NodeId pe, SymmetricAddress word, std::uint32_t expected,
                               std::uint32_t value) const;

  // Returns when all puts of this process to other hosts, and all its gets, are complete.
  void quiet() const;
  // From now on quiet() is for these PEs only; the list outlives this.
  void limit_quiet(const std::vector<NodeId>* pes) { quiet_toward_ = pes; }

  World& world() const { return *world_; }

 private:
  void put_far(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes) const;
  void get_far(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const;
  template <typename Word>
  Word atomic(NodeId pe, SymmetricAddress word, transport::AtomicOp op, Word operand,
              Word expected = 0) const;

  World* world_;
  const std::vector<NodeId>* quiet_toward_ = nullptr;  // nullptr: all PEs
};

}  // namespace terrane::runtime::shmem
