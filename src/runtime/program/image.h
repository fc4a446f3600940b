#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/module_owners.h"
#include "platform/modules.h"
#include "runtime/node.h"

namespace terrane::runtime {

// What must be equal on all nodes of a program whose memory is shared. Each member is a hash.
struct BuildCard {
  std::uint64_t program = 0;    // the file
  std::uint64_t libraries = 0;  // the files
  std::uint64_t addresses = 0;  // where they are loaded

  // The part of an error message after "node N runs "; empty: the cards are equal.
  std::string difference(const BuildCard& other) const;
};

// The static data of the program and of its own libraries (.data and .bss), which become shared
// memory at their own addresses: first every node places the panes, then node 0 stores the saved
// contents. Pages that no thread touches take no memory. Owns a copy of the contents in between.
class Image {
 public:
  // Describes modules of this process; the data of those that are the program's become shared.
  Image(const std::vector<platform::Module>& modules,
        const std::vector<platform::ModuleOwner>& owners);

  const BuildCard& card() const { return card_; }
  // The size of all panes together, in whole pages.
  std::uint64_t bytes() const { return bytes_; }
  // Copies the contents for store(). No other thread may write to the data meanwhile.
  base::Result<> save();
  // The panes, for Node::place(). `region` has bytes() bytes.
  std::vector<Pane> panes(void* region) const;
  // Stores the saved contents at the same addresses.
  base::Result<> store();

 private:
  std::vector<platform::WritablePages> data_;
  std::uint64_t bytes_ = 0;
  BuildCard card_;
  base::UniqueFd saved_;
};

}  // namespace terrane::runtime
