#include "forecast/costs.h"

#include <algorithm>

namespace terrane::forecast {

Costs link(double one_way_us, double bytes_per_second) {
  Costs costs;
  costs.latency += one_way_us * 1'000;
  if (bytes_per_second > 0) costs.per_byte = std::max(costs.per_byte, 1e9 / bytes_per_second);
  return costs;
}

}  // namespace terrane::forecast
