#include "bootstrap/local_bootstrap.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "bootstrap/card.h"
#include "bootstrap/job_of_one.h"

namespace terrane::bootstrap {
namespace {

base::Error launcher_gone() {
  return base::error("`terrane run`, which started this job, has gone; start the job again");
}

base::Error receive_error(PacketStatus status) {
  switch (status) {
    case PacketStatus::kClosed:
      return launcher_gone();
    case PacketStatus::kNoDescriptors:
      return base::error(
          "this process may not open enough descriptors for the cards of all nodes; raise the hard "
          "limit: "
          "ulimit -Hn");
    case PacketStatus::kMalformed:
      return base::error(
          "a message that is not Terrane's came from the launcher; the program and `terrane run` "
          "may be of different "
          "versions (terrane --version)");
    default:
      return base::errno_error("cannot read from `terrane run`");
  }
}

}  // namespace

base::Result<std::unique_ptr<Bootstrap>> LocalBootstrap::claim(base::UniqueFd inherited) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    return base::errno_error("cannot make a socket to speak to `terrane run`");
  }
  base::UniqueFd channel(pair[0]), launchers_channel(pair[1]);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
    return base::errno_error("cannot make a pipe to `terrane run`");
  }
  base::UniqueFd lifeline(ends[0]), launchers_lifeline(ends[1]);
  const int fds[2] = {launchers_channel.get(), launchers_lifeline.get()};
  MessageHeader claim{.kind = MessageKind::kClaim};
  PacketStatus sent = send_packet(inherited.get(), claim, {}, fds, 0);
  if (sent == PacketStatus::kClosed) return launcher_gone();
  if (sent != PacketStatus::kDone) return base::errno_error("cannot reach `terrane run`");
  launchers_channel.reset();
  launchers_lifeline.reset();

  std::unique_ptr<LocalBootstrap> node(new LocalBootstrap(std::move(channel), std::move(lifeline)));
  if (auto welcome = node->await_welcome(); !welcome) return welcome.error();
  if (auto armed = node->arm_lifeline(); !armed) return armed.error();
  node->place_ = std::move(inherited);
  return std::unique_ptr<Bootstrap>(std::move(node));
}

base::Result<> LocalBootstrap::await_welcome() {
  Card welcome;
  while (!welcome.complete()) {
    PacketStatus status = reader_.receive(channel_.get(), 0);
    if (status != PacketStatus::kDone) return receive_error(status);
    const MessageHeader& header = reader_.header();
    if (header.kind == MessageKind::kRefused) return base::Error{std::string(reader_.text())};
    if (header.kind != MessageKind::kWelcome || !welcome.add(reader_)) {
      return receive_error(PacketStatus::kMalformed);
    }
    self_ = NodeId{header.node};
  }
  auto map = decode_map(welcome.bytes);
  if (!map || self_.value >= map->nodes() || welcome.fds.size() != 1) {
    return receive_error(PacketStatus::kMalformed);
  }
  map_ = std::move(*map);
  clusters_ = map_.clusters_of_nodes();
  nodes_on_host_ = map_.nodes_on(map_.host_of[self_.value]);
  guest_names_ = std::make_unique<std::atomic<const std::string*>[]>(map_.nodes());
  news_ = std::move(welcome.fds.front());
  return {};
}

// The kernel sends the signal that F_SETSIG names when the last writer of the pipe closes: nobody
// ever writes to it.
base::Result<> LocalBootstrap::arm_lifeline() {
  int fd = lifeline_.get();
  if (::fcntl(fd, F_SETOWN, ::getpid()) < 0 || ::fcntl(fd, F_SETSIG, SIGKILL) < 0 ||
      ::fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) < 0) {
    return base::errno_error("cannot tie this process to the life of `terrane run`");
  }
  pollfd end{fd, POLLIN, 0};
  if (::poll(&end, 1, 0) > 0) return launcher_gone();  // it died before the signal was armed
  return {};
}

base::Result<std::vector<Contribution>> LocalBootstrap::exchange(std::span<const std::byte> bytes,
                                                                 std::span<const int> fds) {
  if (bytes.size() > kMaxCardBytes || fds.size() > kMaxCardFds) {
    return base::error("a card of {} bytes and {} descriptors is over the limit of {} and {}",
                       bytes.size(), fds.size(), kMaxCardBytes, kMaxCardFds);
  }
  auto own = copy_contribution(bytes, fds);
  if (!own) return own.error();
  std::vector<Contribution> all(nodes());
  all[self_.value] = std::move(own).value();
  auto result = send_card(bytes, fds);
  if (result) result = receive_cards(all);
  if (!result) {
    close_contributions(all);
    return result.error();
  }
  return all;
}

base::Result<> LocalBootstrap::send_card(std::span<const std::byte> bytes,
                                         std::span<const int> fds) {
  CardSender sender(self_.value, bytes, fds);
  PacketStatus status = sender.send(channel_.get(), 0);
  if (status == PacketStatus::kDone) return {};
  if (status == PacketStatus::kClosed) return launcher_gone();
  return base::errno_error("cannot send this node's card to `terrane run`");
}

base::Result<> LocalBootstrap::receive_cards(std::vector<Contribution>& all) {
  std::vector<Card> cards(nodes());
  std::uint32_t missing = nodes() - 1;
  while (missing > 0) {
    PacketStatus status = reader_.receive(channel_.get(), 0);
    if (status != PacketStatus::kDone) return receive_error(status);
    const MessageHeader& header = reader_.header();
    if (header.kind == MessageKind::kMissing) return base::Error{std::string(reader_.text())};
    bool fits = header.kind == MessageKind::kCard && header.node < nodes() &&
                header.node != self_.value && cards[header.node].add(reader_);
    if (!fits) return receive_error(PacketStatus::kMalformed);
    if (cards[header.node].complete()) --missing;
  }
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    if (node == self_.value) continue;
    all[node].bytes = std::move(cards[node].bytes);
    for (base::UniqueFd& fd : cards[node].fds) all[node].fds.push_back(fd.release());
  }
  return {};
}

base::Result<History> LocalBootstrap::enter() {
  PacketStatus sent =
      send_packet(channel_.get(), {.kind = MessageKind::kEnter, .node = self_.value}, {}, {}, 0);
  if (sent != PacketStatus::kDone) return launcher_gone();
  PacketStatus status = reader_.receive(channel_.get(), 0);
  if (status != PacketStatus::kDone) return receive_error(status);
  const MessageHeader& header = reader_.header();
  if (header.kind == MessageKind::kMissing) return base::Error{std::string(reader_.text())};
  auto history = decode_history(reader_.bytes(), nodes());
  bool fits = header.kind == MessageKind::kEntered && history &&
              std::count(history->begin(), history->end(), Change{Change::Kind::kCame, self_}) == 1;
  if (!fits) return receive_error(PacketStatus::kMalformed);
  sent =
      send_packet(channel_.get(), {.kind = MessageKind::kInside, .node = self_.value}, {}, {}, 0);
  if (sent != PacketStatus::kDone) return launcher_gone();
  return std::move(*history);
}

void LocalBootstrap::admitted(NodeId guest) {
  MessageHeader header{.kind = MessageKind::kAdmitted, .node = self_.value, .about = guest.value};
  send_packet(channel_.get(), header, {}, {}, 0);
}

void LocalBootstrap::closing() {
  send_packet(channel_.get(), {.kind = MessageKind::kClosing, .node = self_.value}, {}, {}, 0);
}

void LocalBootstrap::answer(std::span<const std::byte> snapshot, std::uint32_t of) {
  MessageHeader header{.kind = MessageKind::kAnswer, .node = self_.value, .about = of};
  send_packet(channel_.get(), header, snapshot, {}, MSG_DONTWAIT);
}

void LocalBootstrap::leaving(Departure departure) {
  MessageKind kind =
      departure == Departure::kAlone ? MessageKind::kLeavingAlone : MessageKind::kLeaving;
  send_packet(channel_.get(), {.kind = kind, .node = self_.value}, {}, {}, 0);
}

void LocalBootstrap::ending(int code) {
  MessageHeader header{.kind = MessageKind::kEnding, .node = self_.value, .code = code};
  send_packet(channel_.get(), header, {}, {}, 0);
}

std::optional<News> LocalBootstrap::take_news() {
  PacketStatus status = news_reader_.receive(news_.get(), MSG_DONTWAIT);
  const MessageHeader& header = news_reader_.header();
  if (status != PacketStatus::kDone) return std::nullopt;
  bool of_all = header.kind == MessageKind::kClosed || header.kind == MessageKind::kAsk;
  if (header.node >= nodes() && !of_all) return std::nullopt;
  switch (header.kind) {
    case MessageKind::kDeath:
      return News{News::Kind::kDied, NodeId{header.node}, std::string(news_reader_.text()), {}};
    case MessageKind::kGone:
      return News{News::Kind::kLeft, NodeId{header.node}, {}, {}};
    case MessageKind::kNewcomer:
      return newcomer();
    case MessageKind::kClosed:
      return News{News::Kind::kClosed, {}, {}, {}};
    case MessageKind::kAsk:
      return News{News::Kind::kAsked, {}, {}, {}};
    default:
      return std::nullopt;
  }
}

std::optional<News> LocalBootstrap::newcomer() {
  std::uint32_t node = news_reader_.header().node;
  std::string_view text = news_reader_.text();
  std::size_t end = text.find('\0');
  if (end == std::string_view::npos || node < started()) return std::nullopt;
  names_.emplace_back(text.substr(0, end));
  guest_names_[node].store(&names_.back(), std::memory_order_release);
  auto card = std::as_bytes(std::span(text.substr(end + 1)));
  return News{News::Kind::kJoined, NodeId{node}, {}, {card.begin(), card.end()}};
}

// The launcher prints the sentence, once, with this node's number and host. Where it has gone, we
// print it ourselves. Nothing here allocates: the caller may be in a signal handler.
void LocalBootstrap::fail(std::string_view sentence, int code) {
  MessageHeader header{.kind = MessageKind::kFail, .node = self_.value, .code = code};
  if (send_text(channel_.get(), header, sentence, MSG_DONTWAIT) != PacketStatus::kDone) {
    [[maybe_unused]] auto a = ::write(STDERR_FILENO, sentence.data(), sentence.size());
    [[maybe_unused]] auto b = ::write(STDERR_FILENO, "\n", 1);
  }
  ::_exit(code);
}

}  // namespace terrane::bootstrap
