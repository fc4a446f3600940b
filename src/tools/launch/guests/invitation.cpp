#include "tools/launch/guests/invitation.h"

#include <fmt/ranges.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

namespace terrane::tools {
namespace {

constexpr std::string_view kFirstWord = "terrane-invitation-1";
constexpr std::string_view kKind = "terrane-job-";
constexpr std::size_t kMaxText = 4096;
constexpr int kAnswersATurn = 16;

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
  listener_ = open_local_door(kKind, invitation_.job, SOCK_SEQPACKET);
  if (!listener_ && errno == EADDRINUSE) {
    return base::error(
        "a job {} runs on this host already; choose another name: terrane run --name NAME",
        invitation_.job);
  }
  bool watched =
      listener_ && loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { answer_all(); });
  if (!watched) return base::errno_error("cannot open a door for those who join the job");
  return {};
}

void InvitationDoor::close() {
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
}

// The text has room in a fresh socket.
void InvitationDoor::answer_all() {
  std::string text = invitation_.text();
  for (int i = 0; i < kAnswersATurn; ++i) {
    base::UniqueFd visitor = admit_at_local_door(listener_.get());
    if (!visitor) return;
    [[maybe_unused]] ssize_t sent =
        ::send(visitor.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

std::vector<std::string> jobs_here() { return local_doors(kKind); }

base::Result<Invitation> ask_for_invitation(const std::string& job) {
  if (!is_job_name(job)) return base::error("{} is no name of a job", job);
  base::UniqueFd socket = knock_at_local_door(kKind, job, SOCK_SEQPACKET);
  if (!socket) {
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
