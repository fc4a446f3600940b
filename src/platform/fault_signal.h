#pragma once

#include <cstdint>

#include "base/result.h"
#include "platform/fault_source.h"
#include "platform/mapping.h"
#include "platform/sealed_pages.h"
#include "platform/signal_chain.h"

namespace terrane::platform {

// How the kernel reports accesses that a view does not grant.
enum class FaultSignal : std::uint8_t { kBus, kSegv };

// Owns one entry of the process's table of faulting views: while it lives, the named signal inside
// `part` of the application view of `mapping` calls `handler` in the faulting thread, and every
// other SIGBUS and SIGSEGV goes where it went before (the program's earlier handler, or death by
// that very signal). No thread may touch the view while the route ends.
class FaultRoute {
 public:
  // seals: SIGSEGV is served, too, where they permit the access; they outlive the route.
  static base::Result<FaultRoute> open(const DualMapping& mapping, Span part, FaultSignal signal,
                                       FaultHandler handler, void* context,
                                       SealedPages* seals = nullptr);

  FaultRoute() = default;
  FaultRoute(FaultRoute&&) noexcept;
  FaultRoute& operator=(FaultRoute&&) noexcept;
  ~FaultRoute();

 private:
  int slot_ = -1;
};

// Puts our handlers of SIGBUS and SIGSEGV in front again where another library has installed its
// own by a way past the front-end's functions, which then come behind ours. The number of one of
// these signals; 0: ours are in front.
int restore_fault_handlers();

// Whether the calling thread is in a FaultHandler.
bool is_in_fault_handler();
// The instruction of the fault for which it is, or was last; 0 where that is not known.
std::uintptr_t faulting_code();

// What comes behind our handler of SIGBUS, SIGSEGV or SIGTRAP; null for other signals, and where we
// have none.
SignalChain* chain_of(int signal_number);

}  // namespace terrane::platform
