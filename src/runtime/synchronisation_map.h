#pragma once

#include <bit>
#include <cstdint>

#include "platform/mapping.h"
#include "protocol/steps/block_table.h"

namespace terrane::runtime {

// Which addresses of the program lie in synchronisation pages (protocol/hlrc/promotions.h). Any
// thread may ask at any time. Uses general registers alone, so code may ask that the program has
// not called.
class SynchronisationMap {
 public:
  // `entries`: of all blocks, each of `unit` bytes, a power of two. Both outlive this.
  SynchronisationMap(const protocol::BlockEntry* entries, const platform::DualMapping& mapping,
                     std::uint64_t unit)
      : entries_(entries), mapping_(mapping), shift_(std::countr_zero(unit)) {}

  [[gnu::always_inline]] bool contains(std::uintptr_t address) const {
    std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(mapping_.app());
    if (const platform::Pane* pane = mapping_.panes().at_address(address))
      offset = pane->span.offset + (address - reinterpret_cast<std::uintptr_t>(pane->address));
    return offset < mapping_.bytes() && entries_[offset >> shift_].synchronises();
  }

 private:
  const protocol::BlockEntry* entries_;
  const platform::DualMapping& mapping_;
  int shift_;
};

}  // namespace terrane::runtime
