#pragma once

#include <sys/socket.h>

#include <string>

#include "base/result.h"

namespace terrane::tools {

// Where Prometheus gets a job's counters.
struct MetricsAddress {
  sockaddr_storage address{};  // the loopback, unless another one is given
  bool is_set = false;         // false: nowhere
};

// "PORT", "ADDRESS:PORT" or "[IPV6]:PORT", of numbers. Port 0: any that is free.
base::Result<MetricsAddress> parse_metrics_address(const std::string& text);

}  // namespace terrane::tools
