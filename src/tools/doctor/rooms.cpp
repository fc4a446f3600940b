#include "tools/doctor/rooms.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "base/unique_fd.h"

namespace terrane::tools {
namespace {

// What a command prints. It inherits standard error, so the user reads its own sentences.
base::Result<std::string> output_of(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::errno_error("cannot make a pipe");
  base::UniqueFd in(ends[0]), out(ends[1]);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out.get(), STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  out.reset();
  if (child < 0) return base::errno_error("cannot start " + words[0]);
  std::string text;
  char part[4096];
  for (ssize_t got; (got = ::read(in.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return base::error("not all of these hosts could be asked");
  return text;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  double gib = static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 30);
  if (gib >= 10240) return fmt::format("{:.1f} TiB", gib / 1024);
  return gib >= 1 ? fmt::format("{:.1f} GiB", gib) : fmt::format("{} MiB", bytes / kMiB);
}

Finding sum_of_rooms(const std::string& lines) {
  std::map<std::string, std::uint64_t> rooms;
  std::istringstream in(lines);
  std::string host;
  for (std::uint64_t bytes = 0; in >> host >> bytes;) rooms[host] = bytes;
  std::uint64_t all = 0;
  std::string each;
  for (const auto& [name, bytes] : rooms) {
    all += bytes;
    each += fmt::format("{}{} {}", each.empty() ? "" : ", ", name, size_text(bytes));
  }
  return {Level::kOk, "job memory",
          fmt::format("a job on {} host{} could hold {}: {}", rooms.size(),
                      rooms.size() == 1 ? "" : "s", size_text(all), each)};
}

base::Result<Finding> rooms_of(const std::string& hosts, const std::string& self) {
  auto lines = output_of({self, "run", "-H", hosts, self, "doctor", "--room"});
  if (!lines) return lines.error();
  return sum_of_rooms(lines.value());
}

}  // namespace terrane::tools
