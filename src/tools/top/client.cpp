#include "tools/top/client.h"

#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/launch/codec.h"
#include "tools/launch/local_door.h"
#include "tools/launch/watch/watch_door.h"

namespace terrane::tools::top {
namespace {

std::string user_text(uid_t user) {
  const passwd* known = ::getpwuid(user);
  return known == nullptr ? std::to_string(user) : known->pw_name;
}

// A job of this user that runs here, for a list.
struct Found {
  Client client;
  JobView view;
  std::string text() const {
    return fmt::format("{} ({}, process {}, {} nodes)", client.name(), view.program, view.process,
                       view.nodes.size());
  }
};

std::string list_of(const std::vector<Found>& found) {
  std::vector<std::string> texts;
  for (const Found& one : found) texts.push_back(one.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

base::Error no_such_job(const std::string& job, const std::vector<Found>& found) {
  std::string what = job.empty() ? "no job of yours" : fmt::format("no job {} of yours", job);
  if (found.empty())
    return base::error(
        "{} runs on this host; `terrane top` runs where the job was started, by the same user",
        what);
  return base::error("{} runs on this host; there {} {}", what, found.size() == 1 ? "is" : "are",
                     list_of(found));
}

}  // namespace

base::Result<Client> Client::knock(const std::string& name) {
  base::UniqueFd socket = knock_at_local_door(kWatchDoor, name, SOCK_STREAM);
  if (!socket) return base::errno_error(fmt::format("cannot reach job {}", name));
  uid_t owner = user_of(socket.get());
  if (owner != ::geteuid())
    return base::error("job {} belongs to user {}, and user {} cannot watch it", name,
                       user_text(owner), user_text(::geteuid()));
  return Client(name, std::move(socket));
}

base::Result<Client> Client::connect(const std::string& job) {
  std::vector<std::string> names = local_doors(kWatchDoor);
  if (std::find(names.begin(), names.end(), job) != names.end()) return knock(job);
  std::vector<Found> found;
  for (const std::string& name : names) {
    auto client = knock(name);
    if (!client) continue;  // of another user, or it has just ended
    auto view = client.value().ask();
    if (!view) continue;
    bool is_it = std::to_string(view.value().process) == job;
    found.push_back({std::move(client).value(), std::move(view).value()});
    if (is_it) return std::move(found.back().client);
  }
  if (!job.empty() || found.empty()) return no_such_job(job, found);
  if (found.size() > 1)
    return base::error("{} jobs of yours run on this host: name one of {}", found.size(),
                       list_of(found));
  return std::move(found.front().client);
}

base::Result<JobView> Client::ask() {
  std::vector<std::byte> out;
  append_frame(out, encode_message<WatchRequest>(watch::Ask{}));
  ssize_t sent = ::send(socket_.get(), out.data(), out.size(), MSG_NOSIGNAL);
  ended_ = sent < 0 && errno == EPIPE;
  if (sent < 0) return base::errno_error(fmt::format("cannot reach job {}", name_));
  for (;;) {
    if (auto frame = reader_.next()) {
      auto answer = decode_message<WatchAnswer>(*frame);
      if (!answer)
        return base::error(
            "job {} sent nothing that this version of Terrane understands; use the `terrane` that "
            "started it",
            name_);
      if (const auto* refused = std::get_if<watch::Refused>(&*answer))
        return base::Error{refused->sentence};
      return std::move(std::get<watch::View>(*answer).view);
    }
    std::byte bytes[64 * 1024];
    ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    ended_ = got == 0 || (got < 0 && errno == ECONNRESET);
    if (ended_) return base::error("job {} has ended", name_);
    if (got < 0 && errno == EAGAIN)
      return base::error("job {} does not answer; is `terrane run` stopped?", name_);
    if (got < 0) return base::errno_error(fmt::format("cannot hear job {}", name_));
    reader_.add({bytes, static_cast<std::size_t>(got)});
  }
}

}  // namespace terrane::tools::top
