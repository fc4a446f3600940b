#pragma once

#include <cstdint>

#include "protocol/steps/block_table.h"
#include "runtime/page_space.h"
#include "runtime/synchronisation_map.h"

namespace terrane::runtime {

// Looks at this node's pages from outside of the protocol. Guesses: no lock is taken, and other
// threads may change a page meanwhile. Addresses are the program's. Any thread, while the node
// lives.
class PageLooks {
 public:
  // `entries`: of all blocks. Both outlive this.
  PageLooks(PageSpace& space, const protocol::BlockEntry* entries)
      : space_(space), entries_(entries) {}

  // Which addresses lie in synchronisation pages; they do until their allocation is freed.
  SynchronisationMap synchronisation_pages() const {
    return {entries_, space_.mapping(), space_.unit()};
  }
  // With --check=races=reads: what threads access; nullptr otherwise.
  AccessKeeper* accesses() const { return CheckedPages::accesses(space_); }
  // The bytes that this node's page has at the address. False: it has no valid page, or they are of
  // two.
  bool peek(const void* address, void* to, std::uint64_t bytes) const;
  // Whether a thread of another node that has seen these bytes there would find others, as far as
  // this node knows: because it is the page's home, or has written them to its copy and not
  // released them.
  bool has_news(const void* address, const void* seen, std::uint64_t bytes) const;

 private:
  struct Found {
    std::uint64_t offset;
    const protocol::BlockEntry* entry;  // nullptr: there is no page
  };
  Found find(const void* address, std::uint64_t bytes) const;

  PageSpace& space_;
  const protocol::BlockEntry* entries_;
};

}  // namespace terrane::runtime
