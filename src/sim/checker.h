#pragma once

#include <cstdint>
#include <vector>

#include "sim/clocks.h"
#include "sim/program.h"

namespace terrane::sim {

// Judges what loads return. Owns a flat memory that each store updates at once, and, for programs
// with races, every store to each byte with what had happened before it.
class Checker {
 public:
  // Of `program`, which must stay.
  void begin(const Program& program);

  void store(std::uint32_t thread, const Op& op);
  // Whether the load may return `value`. Without races, and where the region is sequentially
  // consistent: exactly what the flat memory holds. With races, byte by byte: a store that no other
  // has overwritten that happened after it and before the load.
  bool may_load(std::uint32_t thread, const Op& op, std::uint64_t value) const;
  // At the end every node loads the same.
  bool agrees(const Op& op, std::uint64_t value);
  // What the flat memory holds.
  std::uint64_t expected(const Op& op) const;

  Clocks& clocks() { return clocks_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Store {  // of one byte
    std::uint8_t thread;
    std::uint8_t value;
    std::uint16_t number;  // among the thread's
    std::uint32_t clock;   // in snapshots_
    std::uint32_t older;
  };

  std::size_t place(const Op& op) const { return offsets_[op.region] + op.at; }
  bool may_load_byte(std::uint32_t thread, std::size_t byte, std::uint8_t value) const;
  bool overwritten(const Store* store, std::size_t byte, const Clock& seen) const;
  bool may_be_missed(const Store& store, std::size_t byte, const Clock& seen) const;
  bool happened(const Store& store, const Clock& seen) const;
  bool raced(const Store& store, std::size_t byte) const;
  std::uint32_t node_of(const Store& store) const;
  bool before(const Store& one, const Store& other) const;

  bool racy_ = false;
  const Program* program_ = nullptr;
  bool renews_ = false;
  std::vector<std::size_t> offsets_;  // of each region in memory_
  std::vector<std::uint8_t> memory_;
  std::vector<std::uint32_t> newest_;  // of each byte, in stores_
  std::vector<Store> stores_;
  std::vector<Clock> snapshots_;
  std::vector<std::uint64_t> final_;  // by word of memory_: what the first node read at the end
  std::vector<bool> final_known_;
  Clocks clocks_;
};

}  // namespace terrane::sim
