#include "frontend/threads/control.h"

#include "frontend/pages/objects/shared_object.h"

namespace terrane::frontend::threads {

LockId lock_of(const void* address) { return pages::id_of(pages::ObjectKind::kMutex, address); }
LockId count_of(const void* address) {
  return pages::id_of(pages::ObjectKind::kSemaphore, address);
}

Holding::Holding(const void* address) : lock_(lock_of(address)) {
  pages::node()->lock_until(lock_, pages::kForEver);
}

Holding::~Holding() { pages::node()->unlock_held(lock_); }

}  // namespace terrane::frontend::threads
