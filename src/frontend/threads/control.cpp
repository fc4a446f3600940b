#include "frontend/threads/control.h"

#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/program.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {

LockId lock_of(const void* address) { return pages::id_of(pages::ObjectKind::kMutex, address); }
LockId count_of(const void* address) {
  return pages::id_of(pages::ObjectKind::kSemaphore, address);
}

Holding::Holding(const void* address) : lock_(lock_of(address)) {
  pages::node()->lock_until(lock_, pages::kForEver);
  ++runtime::own_stack().holds;
  ++this_thread().keeps_output;
}

Holding::~Holding() {
  pages::node()->unlock_held(lock_);
  --this_thread().keeps_output;
  --runtime::own_stack().holds;
  runtime::take_signals_after_operation();
}

}  // namespace terrane::frontend::threads
