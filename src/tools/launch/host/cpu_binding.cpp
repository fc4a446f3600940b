#include "tools/launch/host/cpu_binding.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string>

namespace terrane::tools {

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int first = 0;
    auto number = std::from_chars(at, end, first);
    if (number.ec != std::errc()) return {};
    int last = first;
    at = number.ptr;
    if (at < end && *at == '-') {
      number = std::from_chars(at + 1, end, last);
      if (number.ec != std::errc()) return {};
      at = number.ptr;
    }
    if (first < 0 || last >= CPU_SETSIZE) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at < end && *at++ != ',') return {};
  }
  return cpus;
}

std::vector<cpu_set_t> usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_SET(0, &allowed);
  std::vector<cpu_set_t> cores;
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || CPU_ISSET(cpu, &seen)) continue;
    std::ifstream file(
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string line;
    std::getline(file, line);
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(cpu, &core);
    for (int sibling : parse_cpu_list(line)) {
      if (CPU_ISSET(sibling, &allowed)) CPU_SET(sibling, &core);
    }
    CPU_OR(&seen, &seen, &core);
    cores.push_back(core);
  }
  return cores;
}

std::vector<cpu_set_t> bound_processors(Binding binding, const std::vector<cpu_set_t>& cores,
                                        std::size_t nodes) {
  std::vector<cpu_set_t> bound;
  bool fits = nodes <= cores.size();
  if (binding == Binding::kCore) {
    for (std::size_t n = 0; n < nodes; ++n) bound.push_back(cores[n % cores.size()]);
  } else if (binding == Binding::kShare && fits) {
    for (std::size_t n = 0; n < nodes; ++n) {
      cpu_set_t& share = bound.emplace_back();
      CPU_ZERO(&share);
      for (std::size_t c = n * cores.size() / nodes; c < (n + 1) * cores.size() / nodes; ++c)
        CPU_OR(&share, &share, &cores[c]);
    }
  }
  return bound;
}

}  // namespace terrane::tools
