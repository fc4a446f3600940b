#include "tools/launch/guests/doorkeeper.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tools/launch/host/foreign_process.h"
#include "tools/launch/host/process_tree.h"

namespace terrane::tools {
namespace {

using base::UniqueFd;
using bootstrap::MessageKind;
using bootstrap::PacketStatus;

constexpr std::uint64_t kComeMs = 30'000;  // from the first node to the last
constexpr std::size_t kMaxVisitors = 4096;

}  // namespace

Doorkeeper::Doorkeeper(Loop& loop, DoorPlan plan, std::vector<std::uint32_t> nodes,
                       Handlers handlers)
    : loop_(loop),
      plan_(std::move(plan)),
      nodes_(std::move(nodes)),
      handlers_(std::move(handlers)),
      again_(loop, [this] { hand_out_places(); }),
      missing_(loop, [this] { look_for_missing(); }) {}

Doorkeeper::~Doorkeeper() {
  rest();
  for (auto& [pidfd, guest] : guests_) loop_.forget(pidfd);
}

void Doorkeeper::rest() {
  missing_.clear();
  loop_.forget(plan_.door.get());
  plan_.door.reset();
  if (opener_) loop_.forget(opener_.get());
  opener_.reset();
  for (auto& [socket, visitor] : visitors_) loop_.forget(socket);
  visitors_.clear();
  for (auto& [pid, pidfd] : launchers_) {
    if (pidfd) loop_.forget(pidfd.get());
  }
  launchers_.clear();
}

base::Result<> Doorkeeper::open() {
  ::fcntl(plan_.door.get(), F_SETFL, O_NONBLOCK);
  opener_.reset(open_pidfd(plan_.opener));
  if (!opener_) {
    return base::error("the node that started the engine of this host (process {}) has gone",
                       plan_.opener);
  }
  bool watched = loop_.watch(opener_.get(), EPOLLIN, [this](std::uint32_t) { on_opener_end(); }) &&
                 loop_.watch(plan_.door.get(), EPOLLIN, [this](std::uint32_t) { on_knock(); });
  if (!watched) return base::errno_error("cannot watch the door of this host");
  watch_launcher(plan_.opener);
  return {};
}

void Doorkeeper::on_knock() {
  for (;;) {
    UniqueFd socket(::accept4(plan_.door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    ucred who{};
    socklen_t size = sizeof who;
    bool ours = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
                who.uid == ::geteuid() && who.pid > 0;
    int fd = socket.get();
    bool watched = ours && visitors_.size() < kMaxVisitors &&
                   loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { on_word(fd); });
    if (watched) visitors_[fd] = {std::move(socket), who.pid};
  }
}

// What a visitor says, once; then it has its place or is sent away.
void Doorkeeper::on_word(int socket) {
  auto found = visitors_.find(socket);
  PacketStatus status = reader_.receive(socket, MSG_DONTWAIT);
  if (status == PacketStatus::kAgain) return;
  Visitor visitor = std::move(found->second);
  visitors_.erase(found);
  loop_.forget(socket);
  bool knocks = status == PacketStatus::kDone && reader_.header().kind == MessageKind::kKnock;
  if (!knocks) return;
  if (!bootstrap::same_secret(plan_.secret, reader_.bytes())) {
    return refuse(socket, "who knocks at the door of a job must know the job's secret");
  }
  NodeId node{reader_.header().node};
  if (std::string no = objection(node); !no.empty()) return refuse(socket, no);
  UniqueFd pidfd(open_pidfd(visitor.pid));
  auto place = handlers_.place(node);
  if (!pidfd || !place) {
    return refuse(socket, place ? "its process cannot be watched" : place.error().message);
  }
  watch_guest(node, visitor.pid, std::move(pidfd));
  given_.push_back({std::move(visitor.socket), node, std::move(place).value()});
  hand_out_places();
}

// The kernel lets a user have only so many descriptors on their way.
void Doorkeeper::hand_out_places() {
  std::erase_if(given_, [](const GivenPlace& one) {
    const int fds[1] = {one.place.get()};
    PacketStatus status = bootstrap::send_packet(
        one.visitor.get(), {.kind = MessageKind::kPlace, .node = one.node.value}, {}, fds,
        MSG_DONTWAIT);
    return status != PacketStatus::kTooManyFlying && status != PacketStatus::kAgain;
  });
  if (!given_.empty()) again_.set_in(1);
}

std::string Doorkeeper::objection(NodeId node) const {
  if (std::find(nodes_.begin(), nodes_.end(), node.value) == nodes_.end()) {
    return fmt::format("node {} is not of this host", node.value);
  }
  auto other = came_.find(node.value);
  if (other == came_.end()) return "";
  return fmt::format("process {} holds the place of node {} of this job", other->second,
                     node.value);
}

void Doorkeeper::refuse(int socket, const std::string& sentence) {
  bootstrap::send_text(socket, {.kind = MessageKind::kRefused}, sentence, MSG_DONTWAIT);
}

void Doorkeeper::watch_guest(NodeId node, pid_t pid, UniqueFd pidfd) {
  if (pid == plan_.opener && opener_) {
    loop_.forget(opener_.get());
    opener_.reset();
  }
  watch_launcher(pid);
  int fd = pidfd.get();
  guests_[fd] = {node, pid, std::move(pidfd)};
  came_[node.value] = pid;
  handlers_.came(node, pid);
  if (!loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { on_end(fd); })) on_end(fd);
  if (all_came()) {
    missing_.clear();
  } else if (!missing_.is_set()) {
    missing_.set_in(kComeMs);
  }
}

void Doorkeeper::on_end(int pidfd) {
  auto found = guests_.find(pidfd);
  Guest guest = std::move(found->second);
  guests_.erase(found);
  loop_.forget(pidfd);
  handlers_.ended(guest.node, guest.pid, foreign_wait_status(guest.pid, pidfd));
}

void Doorkeeper::on_opener_end() {
  loop_.forget(opener_.get());
  opener_.reset();
  handlers_.failed(
      fmt::format("process {}, the first node of this host, ended before it joined "
                  "the job",
                  plan_.opener));
}

// Its nodes would go on without it: not every launcher takes them along.
void Doorkeeper::watch_launcher(pid_t of) {
  pid_t launcher = foreign_launcher_of(of);
  if (launcher == 0 || launchers_.contains(launcher)) return;
  UniqueFd pidfd(open_pidfd(launcher));
  if (!pidfd) return;
  std::string name = process_name(launcher);
  bool watched = loop_.watch(pidfd.get(), EPOLLIN, [this, launcher, name](std::uint32_t) {
    loop_.forget(launchers_[launcher].get());
    launchers_[launcher].reset();
    handlers_.failed(fmt::format("{} (process {}), which started the nodes of this host, has gone",
                                 name, launcher));
  });
  if (watched) launchers_[launcher] = std::move(pidfd);
}

void Doorkeeper::look_for_missing() {
  handlers_.failed(fmt::format("node {} did not join the job within {} s of the others of its host",
                               missing(), kComeMs / 1000));
}

std::string Doorkeeper::missing() const {
  std::string list;
  for (std::uint32_t node : nodes_) {
    if (came_.contains(node)) continue;
    if (!list.empty()) list += ", ";
    list += std::to_string(node);
  }
  return list;
}

}  // namespace terrane::tools
