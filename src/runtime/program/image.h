#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/modules.h"
#include "runtime/node.h"

namespace terrane::runtime {

// What must be equal on all nodes of a program whose memory is shared: each part by its hash.
struct BuildCard {
  std::uint64_t program = 0;    // the file
  std::uint64_t libraries = 0;  // the files
  std::uint64_t addresses = 0;  // where all of them are loaded

  // The sentence's part behind "node N runs "; empty: they are equal.
  std::string difference(const BuildCard& other) const;
};

// The static data of the program and of its own libraries (.data and .bss), as they become shared
// memory at their own addresses: first every node places the panes, then node 0 stores what its
// data held. What nobody has touched takes no memory. Owns a copy of the contents in between.
class Image {
 public:
  // Of this process, as it is loaded now.
  Image();

  const BuildCard& card() const { return card_; }
  // All panes together; whole pages.
  std::uint64_t bytes() const { return bytes_; }
  // Keeps what the data hold, for store(). No other thread may write to them.
  base::Result<> save();
  // The panes, for Node::place(); `region` has bytes().
  std::vector<Pane> panes(void* region) const;
  // Stores what was saved at the same addresses.
  base::Result<> store();

 private:
  std::vector<platform::WritablePages> data_;
  std::uint64_t bytes_ = 0;
  BuildCard card_;
  base::UniqueFd saved_;
};

}  // namespace terrane::runtime
