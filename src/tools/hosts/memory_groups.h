#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/hosts/host_options.h"

namespace terrane::test_hosts {

struct MemoryFiles;

// A memory control group for each host, of version 1 or 2, below the group of the process that
// makes them. Owns them: the kernel knows them by names, so they are removed here, once their
// processes have ended.
class MemoryGroups {
 public:
  // None where the options set no limit. The error says what is wrong with the limit, or why
  // groups cannot be made here.
  static base::Result<MemoryGroups> make(const HostOptions& options);
  MemoryGroups(MemoryGroups&& other) noexcept;
  MemoryGroups& operator=(MemoryGroups&&) = delete;
  ~MemoryGroups();

  // Moves this process, which is the first one of the host, and all that it will start, into the
  // group of the host.
  base::Result<> enter(std::uint32_t host) const;

  // A line for each host: how much its processes used at most, beside the limit.
  std::string peaks() const;

 private:
  MemoryGroups() = default;
  bool make_below(const std::string& parent, std::uint32_t hosts);
  base::Result<> set_limits(const HostOptions& options);
  void remove();

  std::vector<std::string> folders_;  // of the hosts
  const MemoryFiles* files_ = nullptr;
  std::uint64_t limit_ = 0;  // bytes
};

}  // namespace terrane::test_hosts
