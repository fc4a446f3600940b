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
constexpr std::size_t kMaxNamed = 8;

// "node 3" or "nodes 1, 2 and 5", at most kMaxNamed of them by number.
std::string name_nodes(const std::vector<std::uint32_t>& nodes) {
  if (nodes.size() == 1) return fmt::format("node {}", nodes[0]);
  std::string text = "nodes ";
  std::size_t named = std::min(nodes.size(), kMaxNamed);
  for (std::size_t i = 0; i < named; ++i) {
    bool last = i + 1 == nodes.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", nodes[i]);
  }
  if (nodes.size() > named) text += fmt::format(" and {} more", nodes.size() - named);
  return text;
}

}  // namespace

base::Result<std::unique_ptr<Relay>> Relay::create(const JobMap& map) {
  std::unique_ptr<Relay> relay(new Relay(map));
  relay->events_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!relay->events_) return base::errno_error("cannot watch the nodes' sockets");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
    return base::errno_error("cannot make the pipe for the job's news");
  }
  relay->news_in_.reset(ends[0]);
  relay->news_out_.reset(ends[1]);
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

void Relay::serve(std::vector<NodeId>& joined) {
  joined_ = &joined;
  if (must_retry_) {
    must_retry_ = false;
    for (std::uint32_t node = 0; node < seats_.size(); ++node) send_cards(node);
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
    if (ready[i].events & EPOLLOUT) send_cards(node);
    if (ready[i].events & ~EPOLLOUT) read_channel(node);
  }
  joined_ = nullptr;
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
    if (place.presence != Place::Presence::kAbsent) {
      refuse(reader_.fds()[0].get(), fmt::format("process {} holds the place of node {} of this "
                                                 "job, so process {} cannot join as the same "
                                                 "node; start each node's program once, or start "
                                                 "another job: terrane run -n N PROGRAM",
                                                 place.pid, node, reader_.sender()));
    } else if (place.gone) {
      refuse(reader_.fds()[0].get(), fmt::format("node {} of this job has ended already", node));
    } else if (give_place(node)) {
      joined_->push_back(NodeId{node});
    }
  }
}

bool Relay::give_place(std::uint32_t node) {
  Seat& seat = seats_[node];
  const int news[1] = {news_in_.get()};
  base::UniqueFd channel = std::move(reader_.fds()[0]);
  CardSender welcome(node, map_, news, MessageKind::kWelcome);
  if (welcome.send(channel.get(), MSG_DONTWAIT) != PacketStatus::kDone) {
    return false;  // it died at once, or its channel is no socket: the place stays free
  }
  seat.place.presence = Place::Presence::kJoined;
  seat.place.pid = reader_.sender();
  seat.lifeline = std::move(reader_.fds()[1]);
  seat.channel = std::move(channel);
  watch(seat.channel.get(), node, true, EPOLLIN, EPOLL_CTL_ADD);
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
      if (seat.incoming.complete()) relay_when_complete();
      return true;
    case MessageKind::kLeaving:
      seat.place.presence = Place::Presence::kLeft;
      return true;
    case MessageKind::kFail:
      seat.place.failed = true;
      seat.place.sentence = reader_.text();
      seat.place.code = header.code;
      return true;
    default:
      return false;
  }
}

void Relay::close_channel(std::uint32_t node) {
  Seat& seat = seats_[node];
  seat.channel.reset();
  seat.outgoing.clear();
  seat.sent = 0;
}

// Once every node's card is here, they become the cards that go out. The cards of the exchange
// before have all been read by then, for nobody sends a new card earlier.
void Relay::relay_when_complete() {
  bool all = std::all_of(seats_.begin(), seats_.end(),
                         [](const Seat& seat) { return seat.incoming.complete(); });
  if (!all) return;
  relayed_.clear();
  relayed_fds_.assign(seats_.size(), {});
  for (Seat& seat : seats_) {
    relayed_.push_back(std::move(seat.incoming));
    seat.incoming = Card();
  }
  for (std::size_t i = 0; i < relayed_.size(); ++i) {
    for (const base::UniqueFd& fd : relayed_[i].fds) relayed_fds_[i].push_back(fd.get());
  }
  for (std::uint32_t node = 0; node < seats_.size(); ++node) {
    Seat& seat = seats_[node];
    seat.outgoing.clear();
    seat.sent = 0;
    for (std::uint32_t other = 0; other < seats_.size(); ++other) {
      if (other != node) {
        seat.outgoing.emplace_back(other, relayed_[other].bytes, relayed_fds_[other]);
      }
    }
  }
  // Only now: the last one to be served lets go of the cards.
  for (std::uint32_t node = 0; node < seats_.size(); ++node) send_cards(node);
}

void Relay::send_cards(std::uint32_t node) {
  Seat& seat = seats_[node];
  if (!seat.channel) return;
  PacketStatus status = PacketStatus::kDone;
  while (seat.sent < seat.outgoing.size()) {
    status = seat.outgoing[seat.sent].send(seat.channel.get(), MSG_DONTWAIT);
    if (status != PacketStatus::kDone) break;
    ++seat.sent;
  }
  if (status == PacketStatus::kTooManyFlying) must_retry_ = true;
  bool wants_room = status == PacketStatus::kAgain;
  if (wants_room != seat.wants_room) {
    seat.wants_room = wants_room;
    watch(seat.channel.get(), node, true, wants_room ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }
  if (!seat.outgoing.empty() && seat.sent == seat.outgoing.size()) {
    seat.outgoing.clear();
    seat.sent = 0;
    bool everyone = std::all_of(seats_.begin(), seats_.end(),
                                [](const Seat& other) { return other.outgoing.empty(); });
    if (everyone) relayed_.clear();
  }
}

void Relay::set_gone(NodeId node) {
  std::vector<NodeId> late;
  joined_ = &late;
  read_claims(node.value);
  read_channel(node.value);
  joined_ = nullptr;
  seats_[node.value].place.gone = true;
  if (seats_[node.value].channel) close_channel(node.value);
}

std::optional<std::string> Relay::obstacle() const {
  std::vector<std::uint32_t> waiting, missing;
  for (std::uint32_t node = 0; node < seats_.size(); ++node) {
    const Seat& seat = seats_[node];
    if (seat.incoming.complete()) {
      waiting.push_back(node);
    } else if (seat.place.gone || seat.place.presence == Place::Presence::kLeft) {
      missing.push_back(node);
    }
  }
  if (waiting.empty() || missing.empty()) return std::nullopt;
  bool one = missing.size() == 1;
  bool left = seats_[missing[0]].place.presence == Place::Presence::kLeft;
  return fmt::format(
      "{} of {} {} {}, while {} {} for {}; every node of a job must run a program that joins it "
      "(terrane_init), or none",
      name_nodes(missing), seats_.size(), one ? "has" : "have",
      left ? "left the job already" : "ended without joining the job", name_nodes(waiting),
      waiting.size() == 1 ? "waits" : "wait", one ? "it" : "them");
}

void Relay::fail_exchange(std::string_view sentence) {
  for (Seat& seat : seats_) {
    bool waits = seat.channel && seat.place.presence == Place::Presence::kJoined;
    if (waits)
      send_text(seat.channel.get(), {.kind = MessageKind::kMissing}, sentence, MSG_DONTWAIT);
  }
}

}  // namespace terrane::bootstrap
