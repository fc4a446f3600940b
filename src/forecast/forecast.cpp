#include "forecast/forecast.h"

#include "forecast/machine.h"
#include "protocol/core/object_ids.h"

namespace terrane::forecast {

Forecast forecast(Program& program, const Setup& setup) { return Machine(program, setup).run(); }

bool is_lock(std::uint64_t id) {
  if (!protocol::is_object(LockId{id})) return id >> 32 == 0;
  protocol::ObjectKind kind = protocol::kind_of(LockId{id});
  return kind == protocol::ObjectKind::kMutex || kind == protocol::ObjectKind::kReadWriteLock;
}

}  // namespace terrane::forecast
