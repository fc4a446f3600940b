#pragma once

#include <sys/types.h>

#include <vector>

#include "tools/hosts/host_options.h"
#include "tools/hosts/memory_groups.h"
#include "tools/hosts/request.h"

namespace terrane::test_hosts {

// Makes the hosts and connects them: owns the bridges, the keepers' channels, and the process
// namespace that holds all hosts, so that nothing of them outlives it. It ends when its owner does.
class Switch {
 public:
  // `memory`: outlives this object. `control`: to the owner, which receives "ready" or what is
  // wrong, and sends requests.
  Switch(HostOptions options, const MemoryGroups& memory, UniqueFd control)
      : options_(std::move(options)), memory_(memory), control_(std::move(control)) {}

  // To be called in a process that nothing else runs in; forks the switch and waits for its end,
  // or ends it when the process that started this one has ended. Then nothing is left of the hosts.
  static int run_in_namespaces(const HostOptions& options, UniqueFd control);

 private:
  struct Host {
    pid_t keeper = 0;
    UniqueFd channel;  // none: the host is down
  };

  int run();
  base::Result<> make_hosts();
  base::Result<> start_keeper(std::uint32_t host, int own_namespace);
  base::Result<> hear_from_all(const char* expected);
  void serve();
  void reap();
  void route(Message message);
  base::Result<> change_link(const Request& request);
  base::Result<> change_crossing(const Request& request);
  Host* find(const std::string& name);

  HostOptions options_;
  const MemoryGroups& memory_;
  UniqueFd control_;
  std::vector<Host> hosts_;
};

}  // namespace terrane::test_hosts
