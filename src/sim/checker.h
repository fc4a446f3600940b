#pragma once

#include <cstdint>
#include <vector>

#include "protocol/races/access_check.h"
#include "protocol/races/race_check.h"
#include "sim/clocks.h"
#include "sim/program.h"

namespace terrane::sim {

// Checks the values that loads return. Owns a flat memory that each store updates at once. For
// programs with races it also keeps each store to each byte, with what had happened before the
// store.
class Checker {
 public:
  // Begins a history of `program`, which must stay valid during the history.
  void begin(const Program& program);

  void store(std::uint32_t thread, const Op& op);
  // Whether the load may return `value`. Without races, and where the region is sequentially
  // consistent, only the content of the flat memory is allowed. With races each byte must come from
  // a store that is not overwritten. A store is overwritten if another store happened after it and
  // before the load.
  bool may_load(std::uint32_t thread, const Op& op, std::uint64_t value) const;
  // The region's blocks from its first one on are at `first` from now on.
  void allocated(std::uint32_t region, std::uint64_t first);
  // A refresh has put another value into this byte of the node's copy of the block. A store of the
  // node that was not released yet may be lost by that.
  void refreshed(std::uint32_t node, std::uint64_t block, std::uint32_t byte);
  // A home has found that the changes of two nodes race. They must: without races there is none,
  // and with races threads of the two nodes must have stored to each of these bytes, in no order.
  void race_found(const protocol::Race& race);
  // The same for two accesses of which one may be a load, which load() has told.
  void access_race_found(const protocol::AccessRace& race);
  void load(std::uint32_t thread, const Op& op);
  // At the end: a race must have been found in each word of a planted region.
  void check_planted() const;
  // Whether the nodes agree: in programs with races, all must load the same value at the end.
  bool agrees(const Op& op, std::uint64_t value);
  // The content of the flat memory.
  std::uint64_t expected(const Op& op) const;

  Clocks& clocks() { return clocks_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Store {  // of one byte
    std::uint8_t thread;
    std::uint8_t value;
    std::uint16_t number;  // of this store among the thread's stores
    std::uint32_t clock;   // index in snapshots_
    std::uint32_t older;
  };

  std::size_t place(const Op& op) const { return offsets_[op.region] + op.at; }
  bool may_load_byte(std::uint32_t thread, std::size_t byte, std::uint8_t value) const;
  bool overwritten(const Store* store, std::size_t byte, const Clock& seen) const;
  bool may_be_missed(const Store& store, std::size_t byte, const Clock& seen) const;
  bool happened(const Store& store, const Clock& seen) const;
  bool raced(const Store& store, std::size_t byte) const;
  void keep(std::uint32_t thread, const Op& op, std::vector<std::uint32_t>& newest);
  bool is_race(std::size_t byte, const protocol::AccessRace& race) const;
  std::uint32_t node_of(const Store& store) const;
  bool before(const Store& one, const Store& other) const;
  bool is_race(std::size_t byte, NodeId one, NodeId other) const;

  static constexpr std::size_t kNowhere = ~std::size_t{0};

  bool racy_ = false;
  std::uint8_t first_byte_ = 0;  // of regions without sequential consistency
  const Program* program_ = nullptr;
  std::vector<std::size_t> offsets_;      // first byte of each region in memory_
  std::vector<std::size_t> blocks_;       // first byte of each block in memory_; or kNowhere
  std::vector<bool> reused_;              // by block: a region that is gone was there
  std::vector<std::uint32_t> refreshed_;  // by byte: the nodes with refreshed(), a bit each
  std::vector<bool> raced_;               // by byte: a race was found
  std::vector<std::uint8_t> memory_;
  std::vector<std::uint32_t> newest_;       // by byte: its newest store in stores_
  std::vector<std::uint32_t> newest_load_;  // the same for loads, if accesses are looked at
  std::vector<bool> accessed_;              // by byte: a race of two accesses was found
  std::vector<Store> stores_;               // and loads
  std::vector<Clock> snapshots_;
  std::vector<std::uint64_t> final_;  // by word of memory_: what the first node loaded at the end
  std::vector<bool> final_known_;
  Clocks clocks_;
};

}  // namespace terrane::sim
