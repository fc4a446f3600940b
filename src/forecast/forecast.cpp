#include "forecast/forecast.h"

#include "forecast/machine.h"

namespace terrane::forecast {

Forecast forecast(Program& program, const Setup& setup) { return Machine(program, setup).run(); }

}  // namespace terrane::forecast
