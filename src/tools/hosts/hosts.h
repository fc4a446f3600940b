#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/hosts/host_options.h"
#include "tools/hosts/request.h"

namespace terrane::test_hosts {

// A process of a test host, with the number that it has outside of the host.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;                // at most 15 characters
  std::vector<std::string> words;  // its command line
  char state = '?';                // as in /proc/PID/stat: R, S, T, Z, ...
};

// A set of hosts on this machine: namespaces of network, processes, IPC, mounts and names, joined
// by bridges that nothing else is connected to. Owns them: they end, with every process in them,
// when this object or its process does, and they have no name that could be left behind.
class Hosts {
 public:
  // `program`: the path of test_hosts. The error says why hosts cannot be made here.
  static base::Result<Hosts> make(const HostOptions& options, const std::string& program);
  Hosts(Hosts&&) = default;
  Hosts& operator=(Hosts&&) = delete;
  ~Hosts();

  std::uint32_t count() const { return static_cast<std::uint32_t>(keepers_.size()); }

  // Runs a command with these descriptors as standard input, output and error, in this folder, and
  // waits for its end. It is killed when this process ends. Threads may call this at once.
  base::Result<int> run(std::uint32_t host, const std::vector<std::string>& words,
                        const std::vector<std::string>& environment,
                        const std::string& folder) const;

  // Cuts or mends one of a host's links. After kNoCarrier the kernel may take a second to see the
  // carrier again.
  base::Result<> set_link(std::uint32_t host, std::uint32_t link, LinkState state) const;

  // What the router does with packets between two clusters, in both directions: kSilent drops them,
  // kNoCarrier answers that the hosts cannot be reached.
  base::Result<> set_crossing(std::uint32_t from, std::uint32_t to, LinkState state) const;

  // As when its power fails. It does not come back.
  void kill_host(std::uint32_t host) const;

  // Every process of the host but its first one.
  std::vector<Process> processes(std::uint32_t host) const;

  // The host's file system as seen from outside, without a slash at its end.
  std::string root(std::uint32_t host) const;

  // The socket that requests go to. A child that keeps it open may use enter_host by
  // TERRANE_TEST_HOSTS=NUMBER.
  int control() const { return control_.get(); }

 private:
  Hosts(pid_t program, UniqueFd control) : program_(program), control_(std::move(control)) {}
  base::Result<> find_keepers();

  pid_t program_;
  UniqueFd control_;
  std::vector<pid_t> keepers_;
};

}  // namespace terrane::test_hosts
