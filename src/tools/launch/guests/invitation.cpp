#include "tools/launch/guests/invitation.h"

#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>

namespace terrane::tools {
namespace {

constexpr std::string_view kFirstWord = "terrane-invitation-1";
constexpr std::string_view kPrefix = "terrane-job-";
constexpr std::size_t kMaxJobName = 60;
constexpr std::size_t kMaxText = 4096;
constexpr int kAnswersATurn = 16;
constexpr int kBacklog = 32;
constexpr timeval kPatience{5, 0};

// A name that begins with a zero byte is in no folder.
socklen_t door_address(const std::string& job, sockaddr_un& address) {
  std::string name = fmt::format("{}{}", kPrefix, job);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

uid_t user_of(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0;
  return known ? other.uid : static_cast<uid_t>(-1);
}

base::Error not_ours(const std::string& job, uid_t owner) {
  return base::error("job {} on this host belongs to user {}, and user {} cannot join it", job,
                     owner, ::geteuid());
}

template <typename Number>
std::optional<Number> number_of(const std::string& word) {
  char* end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(word.c_str(), &end, 10);
  if (word.empty() || *end != '\0' || errno != 0 || value > static_cast<Number>(-1))
    return std::nullopt;
  return static_cast<Number>(value);
}

}  // namespace

bool is_job_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxJobName && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

std::string Invitation::text() const {
  return fmt::format("{} {} {} {} {} {}", kFirstWord, job, fmt::join(hub.addresses, ","), hub.port,
                     secret.hex(), heartbeat_ms);
}

std::optional<Invitation> Invitation::parse(std::string_view line) {
  std::istringstream words{std::string(line.substr(0, kMaxText))};
  std::string first, job, addresses, port, secret, heartbeat, more;
  words >> first >> job >> addresses >> port >> secret >> heartbeat;
  if (first != kFirstWord || !words || words >> more || !is_job_name(job)) return std::nullopt;
  Invitation all;
  all.job = job;
  std::istringstream list(addresses);
  for (std::string one; std::getline(list, one, ',');) all.hub.addresses.push_back(one);
  auto port_number = number_of<std::uint16_t>(port);
  auto heartbeat_ms = number_of<std::uint64_t>(heartbeat);
  auto known = stream::Secret::parse(secret);
  if (!port_number || !heartbeat_ms || !known || all.hub.addresses.empty()) return std::nullopt;
  all.hub.port = *port_number;
  all.heartbeat_ms = *heartbeat_ms;
  all.secret = *known;
  return all;
}

base::Result<> InvitationDoor::open() {
  listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  socklen_t size = door_address(invitation_.job, address);
  auto generic = reinterpret_cast<const sockaddr*>(&address);
  if (listener_ && ::bind(listener_.get(), generic, size) < 0 && errno == EADDRINUSE) {
    return base::error(
        "a job {} runs on this host already; choose another name: terrane run --name NAME",
        invitation_.job);
  }
  bool watched = listener_ && ::listen(listener_.get(), kBacklog) == 0 &&
                 loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { answer_all(); });
  if (!watched) return base::errno_error("cannot open a door for those who join the job");
  return {};
}

void InvitationDoor::close() {
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
}

// Another user gets nothing; the text has room in a fresh socket.
void InvitationDoor::answer_all() {
  std::string text = invitation_.text();
  for (int i = 0; i < kAnswersATurn; ++i) {
    base::UniqueFd visitor(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!visitor) return;
    if (user_of(visitor.get()) != ::geteuid()) continue;
    [[maybe_unused]] ssize_t sent =
        ::send(visitor.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

std::vector<std::string> jobs_here() {
  std::vector<std::string> jobs;
  const std::string start = fmt::format("@{}", kPrefix);
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    std::size_t at = line.find(start);
    if (at == std::string::npos) continue;
    std::string job = line.substr(at + start.size());
    if (is_job_name(job) && std::find(jobs.begin(), jobs.end(), job) == jobs.end())
      jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

base::Result<Invitation> ask_for_invitation(const std::string& job) {
  if (!is_job_name(job)) return base::error("{} is no name of a job", job);
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  sockaddr_un address{};
  socklen_t size = door_address(job, address);
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) < 0) {
    std::vector<std::string> jobs = jobs_here();
    return base::error(
        "no job {} that takes guests runs on this host{}; it has ended, or was started without "
        "room for guests (terrane run --guests N), or runs elsewhere (--invitation FILE)",
        job, jobs.empty() ? "" : fmt::format(" (there are: {})", fmt::join(jobs, ", ")));
  }
  uid_t owner = user_of(socket.get());
  if (owner != ::geteuid()) return not_ours(job, owner);
  char text[kMaxText];
  ssize_t got = ::recv(socket.get(), text, sizeof text, 0);
  if (got <= 0) {
    bool late = got < 0 && errno == EAGAIN;
    return base::error("job {} {}", job,
                       late ? "does not answer; is it stopped?" : "is ending: nobody joins it now");
  }
  auto invitation = Invitation::parse(std::string_view(text, static_cast<std::size_t>(got)));
  if (!invitation) {
    return base::error(
        "job {} sent no invitation that this version of Terrane understands; use the `terrane` "
        "that started it",
        job);
  }
  return std::move(*invitation);
}

}  // namespace terrane::tools
