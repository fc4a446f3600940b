#pragma once

#include <sys/types.h>

#include <vector>

#include "tools/hosts/host_options.h"
#include "tools/hosts/memory_groups.h"
#include "tools/hosts/request.h"

namespace terrane::test_hosts {

// The first process of a host: makes the host, runs commands in it, takes in processes that lost
// their parents, and answers how commands ended. The kernel ends every process of the host with it.
class Keeper {
 public:
  // `memory`: outlives this object. `channel`: to the switch, which gives requests for this host
  // and takes those for others.
  Keeper(const HostOptions& options, const MemoryGroups& memory, std::uint32_t host,
         UniqueFd channel)
      : options_(options), memory_(memory), host_(host), channel_(std::move(channel)) {}

  // Returns when the switch has gone.
  int run();

 private:
  struct Command {
    pid_t pid;
    UniqueFd answer;
    bool attached;  // ends with the client
  };

  bool make_host();
  base::Result<> listen();
  void serve();
  void take_request(int socket);
  void accept_client();
  void start(Message message);
  void reap();

  HostOptions options_;
  const MemoryGroups& memory_;
  std::uint32_t host_;
  UniqueFd channel_, listener_, children_;
  std::vector<Command> commands_;
};

}  // namespace terrane::test_hosts
