#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/module_owners.h"
#include "platform/modules.h"

// Which loaded files are the program's: it and its own libraries, whose data are shared and whose
// code allocates shared memory. What Terrane alone loads is private to each node.
namespace terrane::frontend::threads {

struct Libraries {
  std::vector<platform::Module> modules;                    // in the order of their loading
  std::vector<platform::ModuleOwner> owners;                // of each
  std::vector<platform::CodePages> allocating, own, nodes;  // nodes: of ModuleOwner::kNode

  // Describes this process as it is loaded now. What `before` does not have Terrane has opened.
  static Libraries now(const Libraries* before);

  void add(platform::Module module, platform::ModuleOwner owner, bool allocates);

  // Whether a function at this address allocates for the program: its own code does, and that of
  // the libraries that are written in its language.
  bool allocates_shared(const void* caller) const;
  // Whether an instruction lies in the program or in one of its own libraries.
  bool is_own(const void* code) const;
  // Whether an instruction lies in a library that each node has for itself (ModuleOwner::kNode).
  bool is_nodes(const void* code) const;
  // The owner of the module to whose addresses the loader has added so much.
  platform::ModuleOwner owner_at(std::uintptr_t address) const;
  // The names of libraries that both the program and Terrane use, with blanks in between.
  std::string used_by_both() const;
};

// Of this process, once they are set. Any thread, without a lock: what it refers to is never
// changed or freed.
const Libraries& libraries();
// By one thread at a time.
void set_libraries(Libraries libraries);

}  // namespace terrane::frontend::threads
