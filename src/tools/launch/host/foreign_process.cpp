#include "tools/launch/host/foreign_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/unique_fd.h"
#include "tools/launch/host/process_tree.h"

namespace terrane::tools {
namespace {

constexpr int kMostWrappers = 64;

// Empty where the process has gone, also between opening and reading, which a stream's buffer would
// throw an exception at.
std::string file_of(pid_t pid, const char* name) {
  base::UniqueFd file(
      ::open(("/proc/" + std::to_string(pid) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  for (ssize_t got = 0; file && (got = ::read(file.get(), part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

// Fields of /proc/PID/stat from the third on: they come after the command's name, which may hold
// anything but ends at the last ')'.
std::vector<std::string> fields_of(pid_t pid) {
  std::string text = file_of(pid, "stat");
  std::size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream words(text.substr(end + 1));
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

pid_t parent_of(pid_t pid) {
  std::vector<std::string> fields = fields_of(pid);
  return fields.size() < 2 ? 0 : std::atoi(fields[1].c_str());
}

// As it was when the process was executed; empty where it may not be read (another user's).
std::string pmix_job_of(pid_t pid) {
  const std::string name = "PMIX_NAMESPACE=";
  std::istringstream variables(file_of(pid, "environ"));
  for (std::string variable; std::getline(variables, variable, '\0');) {
    if (variable.starts_with(name)) return variable.substr(name.size());
  }
  return "";
}

}  // namespace

pid_t foreign_launcher_of(pid_t pid) {
  std::string job = pmix_job_of(pid);
  for (int i = 0; i < kMostWrappers; ++i) {
    pid = parent_of(pid);
    if (pid <= 1) return 0;
    if (job.empty() || pmix_job_of(pid) != job) return pid;
  }
  return 0;
}

std::optional<int> foreign_wait_status(pid_t pid, int pidfd) {
  constexpr std::size_t kExitCode = 52 - 3;
  std::vector<std::string> fields = fields_of(pid);
  bool not_taken_in = fields.size() > kExitCode && fields[0] == "Z";
  if (not_taken_in) return std::atoi(fields[kExitCode].c_str());
  return foreign_exit_status(pidfd);
}

std::string process_name(pid_t pid) {
  std::string name = file_of(pid, "comm");
  if (name.empty()) return "process";
  name.pop_back();
  return name;
}

}  // namespace terrane::tools
