#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace terrane::platform {

// The constructors of a file that the loader has mapped, which it has not run.
struct Constructors {
  std::uintptr_t address = 0;  // what the loader has added to the file's addresses
  std::uintptr_t first = 0;    // DT_INIT, relocated; 0: there is none
  std::uintptr_t list = 0;     // DT_INIT_ARRAY, relocated; its entries are relocated in it
  std::size_t count = 0;
};

// While it lives, what the loader asks of the kernel in the calling thread is answered here: files
// with code are mapped where the caller wants them, one behind the other, and their constructors
// are left to the caller. The addresses are mapped before, by anything, and stay so: what the
// loader gives back cannot be read any more, and no other thread can get it. One at a time.
class LoaderCalls {
 public:
  // Addresses in [next, end). Then begin() says whether the kernel can do so (Linux 5.11, x86-64).
  LoaderCalls(std::uintptr_t next, std::uintptr_t end);
  ~LoaderCalls();
  LoaderCalls(const LoaderCalls&) = delete;
  base::Result<> begin();

  // What lies behind all that was mapped.
  std::uintptr_t next() const;
  // Of all files that were mapped, in the order of their mapping.
  std::vector<Constructors> constructors() const;
  // Whether the loader itself has run constructors: those of a file whose parts are not where they
  // are expected.
  bool has_missed() const;
};

}  // namespace terrane::platform
