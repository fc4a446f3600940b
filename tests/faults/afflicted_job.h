#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../hosts/on_hosts.h"
#include "fault.h"

namespace terrane::faults {

// What became of a job that a fault was injected into.
struct Verdict {
  std::vector<std::string> complaints;  // empty: it ended as it must
  std::int64_t ms = 0;  // from the fault to the end of the last process, on any host
  int exit_code = -1;
  std::string err;
};

// A job on test hosts, and the one fault that it meets. Owns the job's processes: none is left on
// any host afterwards, whatever the verdict.
class AfflictedJob {
 public:
  AfflictedJob(test_hosts::Hosts& hosts, const Fault& fault);

  // Starts a command in h0.
  using Launch = std::function<test_hosts::Launched(const std::vector<std::string>& command)>;
  // Runs the job, once.
  Verdict meet_fault(const Launch& launch);

 private:
  using Process = test_hosts::Process;

  std::vector<std::string> command() const;
  void prepare();
  bool wait_for_moment(test_hosts::Launched& job);
  bool inject();
  bool hit(std::uint32_t host, int signal, bool (*is_victim)(const Process&));
  bool is_there(std::uint32_t host, bool (*is_wanted)(const Process&)) const;
  bool kill_node(std::uint32_t node, int signal) const;
  bool hit_node(std::uint32_t node, int signal);
  bool hit_last_node_later();
  void fill_folders(std::uint32_t host);
  bool everybody_gone();
  void check(const test_hosts::Outcome& outcome);
  void check_words(const test_hosts::Outcome& outcome);
  void check_litter();
  void clean_up();
  void wait_for_carrier();
  void complain(const std::string& what);

  test_hosts::Hosts& hosts_;
  Fault fault_;
  Verdict verdict_;
};

}  // namespace terrane::faults
