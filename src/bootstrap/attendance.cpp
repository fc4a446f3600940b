#include "bootstrap/attendance.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace terrane::bootstrap {
namespace {

using Ranks = std::set<std::uint32_t>;

constexpr const char* kVariable = "TERRANE_START_TIMEOUT";
constexpr double kDefaultSeconds = 60, kMostSeconds = 1e9;
// Younger processes may still be started by the launcher.
constexpr std::chrono::seconds kStarting{2};
constexpr std::size_t kMostOfName = 64;

std::string name_of(const std::string& job, std::uint32_t rank) {
  std::string end = job.size() > kMostOfName ? job.substr(job.size() - kMostOfName) : job;
  return fmt::format("terrane-start-{}-{}", end, rank);
}

socklen_t address_of(const std::string& job, std::uint32_t rank, sockaddr_un& address) {
  std::string name = name_of(job, rank);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

base::UniqueFd local_socket() {
  return base::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool has_come(const std::string& job, std::uint32_t rank) {
  sockaddr_un address{};
  socklen_t size = address_of(job, rank, address);
  base::UniqueFd socket = local_socket();
  // EAGAIN: many look at once.
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0 ||
         errno == EAGAIN;
}

std::string file_text(const std::filesystem::path& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  for (ssize_t got = 0; file && (got = ::read(file.get(), part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::string> variable_in(const std::string& environment, std::string_view name) {
  std::string wanted = '\0' + std::string(name) + '=', all = '\0' + environment;
  std::size_t at = all.find(wanted);
  if (at == std::string::npos) return std::nullopt;
  at += wanted.size();
  return all.substr(at, all.find('\0', at) - at);
}

// The job's processes on this host, and those that they started, by what the launcher put into
// their environment.
Ranks living(const std::string& job) {
  Ranks found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string environment = file_text(entry.path() / "environ");
    if (variable_in(environment, "PMIX_NAMESPACE") != job) continue;
    if (auto rank = variable_in(environment, "PMIX_RANK"))
      found.insert(static_cast<std::uint32_t>(std::strtoul(rank->c_str(), nullptr, 10)));
  }
  return found;
}

std::string list(const Ranks& ranks) {
  std::string text = ranks.size() == 1 ? "process" : "processes";
  for (std::uint32_t rank : ranks)
    text += fmt::format("{}{}", text.back() == 's' ? " " : ", ", rank);
  return text;
}

}  // namespace

base::Result<Attendance> Attendance::begin(const std::string& job, std::uint32_t rank,
                                           const JobMap& map, std::chrono::milliseconds limit) {
  Attendance ours(job, rank, map, limit);
  ours.sign_ = local_socket();
  sockaddr_un address{};
  socklen_t size = address_of(job, rank, address);
  // It may be taken: by an attempt of this process before. Then that one is the sign.
  bool taken = ::bind(ours.sign_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0;
  if (taken && errno != EADDRINUSE) return base::errno_error("cannot make a socket");
  if (!taken) ::listen(ours.sign_.get(), SOMAXCONN);
  return ours;
}

Ranks Attendance::missing_here() const {
  Ranks missing;
  for (std::uint32_t rank = 0; rank < map_.host_of.size(); ++rank) {
    bool here = map_.host_of[rank] == map_.host_of[rank_];
    if (here && rank != rank_ && !has_come(job_, rank)) missing.insert(rank);
  }
  return missing;
}

std::optional<std::string> Attendance::objection() {
  auto waited = std::chrono::steady_clock::now() - begun_;
  if (waited < kStarting && (limit_.count() == 0 || waited < limit_)) return std::nullopt;
  Ranks missing = missing_here(), alive = living(job_), gone;
  if (alive.contains(rank_)) {  // else the environment of processes cannot be read here
    std::set_difference(missing.begin(), missing.end(), alive.begin(), alive.end(),
                        std::inserter(gone, gone.end()));
  }
  Ranks twice;
  std::set_intersection(gone.begin(), gone.end(), gone_.begin(), gone_.end(),
                        std::inserter(twice, twice.end()));
  gone_ = std::move(gone);
  if (!twice.empty()) {
    return fmt::format(
        "{} of the job ended on host {} before joining it, and the others wait: every process that "
        "mpirun or srun starts must join (terrane_init, shmem_init)",
        list(twice), map_.names[map_.host_of[rank_]]);
  }
  if (limit_.count() == 0 || waited < limit_) return std::nullopt;
  return too_late(missing);
}

std::string Attendance::too_late(const Ranks& missing) const {
  std::uint32_t own_host = map_.host_of[rank_];
  Ranks elsewhere;
  for (std::uint32_t rank = 0; rank < map_.host_of.size(); ++rank) {
    if (map_.host_of[rank] != own_host) elsewhere.insert(rank);
  }
  std::string who =
      missing.empty()
          ? fmt::format("at least one of {} on other hosts; those of {} have all joined",
                        list(elsewhere), map_.names[own_host])
          : fmt::format("{} on host {}", list(missing), map_.names[own_host]);
  return fmt::format(
      "not every process of the job has joined it within {:.3g} s: {}; more time is given by the "
      "variable {}=SECONDS (0: no limit)",
      static_cast<double>(limit_.count()) / 1000, who, kVariable);
}

base::Result<std::chrono::milliseconds> start_timeout() {
  double seconds = kDefaultSeconds;
  if (const char* text = std::getenv(kVariable)) {
    char* end = nullptr;
    seconds = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0 && seconds <= kMostSeconds)) {
      return base::error("{}={}: must be a number of seconds, or 0 for no limit", kVariable, text);
    }
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace terrane::bootstrap
