#include "bootstrap/relay.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace terrane::bootstrap {
namespace {

constexpr int kFirstInheritedFd = 100;

}  // namespace

Relay::Relay(const JobMap& map, std::uint32_t host) : map_(encode_map(map)), seats_(map.nodes()) {
  for (std::uint32_t node = 0; node < map.nodes(); ++node) {
    if (map.host_of[node] == host) here_.push_back(node);
    seats_[node].hears = node < map.started();
  }
}

base::Result<std::unique_ptr<Relay>> Relay::create(const JobMap& map, std::uint32_t host) {
  std::unique_ptr<Relay> relay(new Relay(map, host));
  relay->events_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!relay->events_) return base::errno_error("cannot watch the nodes' sockets");
  return relay;
}

base::Result<base::UniqueFd> Relay::open_place(NodeId node) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    return base::errno_error(fmt::format("cannot make the socket of node {}", node.value));
  }
  base::UniqueFd ours(pair[0]), theirs(pair[1]);
  int on = 1;
  base::UniqueFd high(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kFirstInheritedFd));
  if (!high || ::setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0) {
    return base::errno_error(fmt::format("cannot set up the socket of node {}", node.value));
  }
  Seat& seat = seats_[node.value];
  seat.claims = std::move(ours);
  watch(seat.claims.get(), node.value, false, EPOLLIN, EPOLL_CTL_ADD);
  return high;
}

void Relay::watch(int fd, std::uint32_t node, bool is_channel, std::uint32_t events,
                  int operation) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{node} << 1 | (is_channel ? 1 : 0);
  ::epoll_ctl(events_.get(), operation, fd, &event);
}

void Relay::serve(std::vector<Change>& changes) {
  changes_ = &changes;
  if (must_retry_) {
    must_retry_ = false;
    for (std::uint32_t node : here_) {
      send_some(node);
      send_news(node);
    }
  }
  epoll_event ready[64];
  int count = ::epoll_wait(events_.get(), ready, 64, 0);
  for (int i = 0; i < count; ++i) {
    auto node = static_cast<std::uint32_t>(ready[i].data.u64 >> 1);
    bool is_channel = ready[i].data.u64 & 1;
    if (!is_channel) {
      read_claims(node);
      continue;
    }
    if (ready[i].events & EPOLLOUT) send_some(node);
    if (ready[i].events & ~EPOLLOUT) read_channel(node);
  }
  changes_ = nullptr;
}

void Relay::read_claims(std::uint32_t node) {
  Seat& seat = seats_[node];
  while (seat.claims) {
    PacketStatus status = reader_.receive(seat.claims.get(), MSG_DONTWAIT);
    if (status == PacketStatus::kAgain) return;
    if (status == PacketStatus::kClosed || status == PacketStatus::kFailed) {
      seat.claims.reset();  // nobody holds the other end any more
      return;
    }
    bool is_claim = status == PacketStatus::kDone && reader_.header().kind == MessageKind::kClaim &&
                    reader_.fds().size() == 2;
    if (!is_claim) continue;
    const Place& place = seat.place;
    // The process has left, and executes another program.
    bool again = place.presence == Place::Presence::kLeft && place.pid == reader_.sender();
    if (place.presence != Place::Presence::kAbsent && !again) {
      refuse(reader_.fds()[0].get(), fmt::format("process {} holds the place of node {} of this "
                                                 "job, so process {} cannot join as the same "
                                                 "node; start each node's program once, or start "
                                                 "another job: terrane run -n N PROGRAM",
                                                 place.pid, node, reader_.sender()));
    } else if (place.gone) {
      refuse(reader_.fds()[0].get(), fmt::format("node {} of this job has ended already", node));
    } else if (give_place(node)) {
      report(node, What::kJoined);
    }
  }
}

bool Relay::give_place(std::uint32_t node) {
  Seat& seat = seats_[node];
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    refuse(reader_.fds()[0].get(),
           "`terrane run` may not open enough descriptors for this node; "
           "raise the hard limit: ulimit -Hn");
    return false;
  }
  base::UniqueFd our_news(pair[0]), their_news(pair[1]);
  seat.welcome_fds[0] = their_news.get();
  base::UniqueFd channel = std::move(reader_.fds()[0]);
  CardSender welcome(node, map_, seat.welcome_fds, MessageKind::kWelcome);
  PacketStatus status = welcome.send(channel.get(), MSG_DONTWAIT);
  if (status == PacketStatus::kClosed || status == PacketStatus::kFailed) {
    return false;  // it died at once, or its channel is no socket: the place stays free
  }
  seat.place.presence = Place::Presence::kJoined;
  seat.place.pid = reader_.sender();
  seat.lifeline = std::move(reader_.fds()[1]);
  seat.channel = std::move(channel);
  seat.news = std::move(our_news);
  seat.asked = 0;
  watch(seat.channel.get(), node, true, EPOLLIN, EPOLL_CTL_ADD);
  if (status == PacketStatus::kDone) return true;
  seat.its_news = std::move(their_news);
  seat.outgoing.push_back(std::move(welcome));
  send_some(node);
  return true;
}

void Relay::refuse(int channel, const std::string& sentence) {
  send_text(channel, {.kind = MessageKind::kRefused}, sentence, MSG_DONTWAIT);
  reader_.fds().clear();
}

void Relay::read_channel(std::uint32_t node) {
  Seat& seat = seats_[node];
  while (seat.channel) {
    PacketStatus status = reader_.receive(seat.channel.get(), MSG_DONTWAIT);
    if (status == PacketStatus::kAgain) return;
    if (status == PacketStatus::kDone && understand(node)) continue;
    if (status != PacketStatus::kClosed && !seat.place.failed) {
      seat.place.failed = true;
      seat.place.code = 1;
      seat.place.sentence =
          status == PacketStatus::kNoDescriptors
              ? "its card did not fit into the descriptors that `terrane run` may open; raise the "
                "hard limit: ulimit -Hn"
              : "it sent `terrane run` a message that is malformed; the program and `terrane run` "
                "may be of different versions (terrane --version)";
      report(node, What::kFailed);
    }
    close_channel(node);
  }
}

// Takes in the message that reader_ holds. False: it makes no sense here.
bool Relay::understand(std::uint32_t node) {
  Seat& seat = seats_[node];
  const MessageHeader& header = reader_.header();
  switch (header.kind) {
    case MessageKind::kCard:
      if (header.node != node || seat.incoming.complete() || !seat.incoming.add(reader_)) {
        return false;
      }
      if (seat.incoming.complete()) begin_exchange(node);
      return true;
    case MessageKind::kLeaving:
      seat.place.presence = Place::Presence::kLeft;
      report(node, What::kLeft);
      return true;
    case MessageKind::kEnter:
      report(node, What::kWantsIn);
      return true;
    case MessageKind::kInside:
      report(node, What::kInside);
      return true;
    case MessageKind::kAdmitted:
      if (header.about >= seats_.size()) return false;
      report(node, What::kAdmitted, NodeId{header.about});
      return true;
    case MessageKind::kClosing:
      report(node, What::kClosing);
      return true;
    case MessageKind::kAnswer: {
      auto bytes = reader_.bytes();
      answers_.push_back({NodeId{node}, header.about, {bytes.begin(), bytes.end()}});
      seat.asked = 0;
      report(node, What::kAnswered);
      return true;
    }
    case MessageKind::kLeavingAlone:
      seat.place.presence = Place::Presence::kLeft;
      report(node, What::kLeftAlone);
      return true;
    case MessageKind::kFail:
      seat.place.failed = true;
      seat.place.sentence = reader_.text();
      seat.place.code = header.code;
      report(node, What::kFailed);
      return true;
    case MessageKind::kEnding:
      seat.place.presence = Place::Presence::kLeft;
      seat.place.code = header.code;
      report(node, What::kEnding);
      return true;
    default:
      return false;
  }
}

void Relay::begin_exchange(std::uint32_t node) {
  Seat& seat = seats_[node];
  seat.place.presence = Place::Presence::kJoined;  // again, where it had left
  if (seats_.size() > 1) return report(node, What::kWaits);
  seat.incoming = Card();  // alone it waits for nobody: its next card may be here already
}

void Relay::close_channel(std::uint32_t node) {
  Seat& seat = seats_[node];
  seat.channel.reset();
  seat.its_news.reset();
  seat.outgoing.clear();
  seat.sent = 0;
}

void Relay::set_gone(NodeId node, std::vector<Change>& changes) {
  changes_ = &changes;
  read_claims(node.value);
  read_channel(node.value);
  changes_ = nullptr;
  seats_[node.value].place.gone = true;
  if (seats_[node.value].channel) close_channel(node.value);
}

void Relay::announce_end() {
  for (std::uint32_t node : here_) seats_[node].news.reset();
}

}  // namespace terrane::bootstrap
