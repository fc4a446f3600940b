#include "runtime/displaced_handlers.h"

#include <string.h>

#include <atomic>

#include "base/log.h"
#include "platform/fault_signal.h"

namespace terrane::runtime {

void mend_displaced_handlers() {
  static std::atomic_flag told;
  int signal_number = platform::restore_fault_handlers();
  if (signal_number == 0 || told.test_and_set()) return;
  base::log(
      "a library installed its handler of SIG{} in the place of Terrane's, by which faults of "
      "shared memory come; it stands behind Terrane's now, but a fault in between would have ended "
      "this node: install it before terrane_init, or start the program by terrane run --preload",
      ::sigabbrev_np(signal_number));
}

}  // namespace terrane::runtime
