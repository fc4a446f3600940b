#include "transport/routed/end.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "routing/splitter.h"

namespace terrane::transport::routed {
namespace {

constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr int kReadsATurn = 4;
// Between two looks whether a peer that cannot be reached is lost: long beside the time in which
// gateways tell each other of a change.
constexpr long kTickNs = 250'000'000;
constexpr int kTicks = 4;

}  // namespace

End::End(routing::Address self, std::uint64_t window, std::uint32_t ways)
    : self_(self), window_(window), outbound_(self, window, ways), inbound_(self, window) {
  ways_.reserve(ways);
}

// Passes on what comes, and tells Outbound what it has to know of it.
class End::Incoming final : public routing::Inbound::Receiver {
 public:
  Incoming(End& end, End::Receiver& receiver) : end_(end), receiver_(receiver) {}

  void message(routing::Address from, std::uint16_t tag, routing::Bytes message) override {
    receiver_.message(from, tag, message);
  }
  void bye(routing::Address from) override {
    std::lock_guard hold(end_.lock_);
    end_.outbound_.gone(from);
  }
  void broken(routing::Address from) override {
    std::lock_guard hold(end_.lock_);
    end_.why_ = "what came from it makes no sense";
    end_.outbound_.lose(from);
  }

 private:
  End& end_;
  End::Receiver& receiver_;
};

base::Result<> End::open() {
  poll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  bool good = poll_ && timer_ && ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, timer_.get(), &event) == 0;
  if (!good) return base::errno_error("routed: cannot make an epoll descriptor");
  return {};
}

base::Result<> End::add_way(std::unique_ptr<stream::Connection> connection) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, connection->fd(), &event) != 0)
    return base::errno_error("routed: cannot watch a connection");
  std::lock_guard hold(lock_);
  auto number = static_cast<std::uint32_t>(ways_.size());
  std::string name = connection->peer_address();
  ways_.push_back({std::move(connection), false, std::move(name)});
  open_ways_.fetch_add(1);
  outbound_.open(number);
  pump();
  return {};
}

void End::send(routing::Address to, std::uint16_t tag, routing::Bytes head, routing::Bytes tail) {
  std::lock_guard hold(lock_);
  outbound_.send(to, tag, head, tail);
  pump();
}

void End::bye() {
  std::lock_guard hold(lock_);
  outbound_.bye();
  pump();
}

bool End::is_idle() {
  std::lock_guard hold(lock_);
  return outbound_.is_idle();
}

bool End::reaches(routing::Address peer) {
  std::lock_guard hold(lock_);
  return outbound_.reaches(peer);
}

bool End::is_lost(routing::Address peer) {
  std::lock_guard hold(lock_);
  return outbound_.is_lost(peer);
}

bool End::is_full(routing::Address peer) {
  std::lock_guard hold(lock_);
  return outbound_.kept_bytes(peer) > 2 * window_;
}

std::string End::why() {
  std::lock_guard hold(lock_);
  return why_;
}

void End::pump() {
  for (std::uint32_t number = 0; number < ways_.size(); ++number) {
    if (ways_[number].connection) pump(number);
  }
}

// One batch is on its way to the socket at a time: what gathers meanwhile is the next one.
void End::pump(std::uint32_t number) {
  Way& way = ways_[number];
  stream::Connection& connection = *way.connection;
  connection.flush();
  while (connection.is_flushed() && outbound_.has_output(number)) {
    outbound_.fill(number, connection.outgoing(), kBatchBytes);
    connection.flush();
  }
  if (connection.wants_room() == way.watches_room) return;
  way.watches_room = !way.watches_room;
  epoll_event event{};
  event.events = way.watches_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_MOD, connection.fd(), &event);
}

std::size_t End::take_in(Receiver& receiver) {
  Incoming incoming(*this, receiver);
  std::size_t frames = 0;
  for (std::uint32_t number = 0; number < ways_.size(); ++number) {
    if (ways_[number].connection) frames += read(number, incoming);
  }
  if (ticks_ != 0) take_ticks();
  std::vector<routing::Address> lost;
  std::string why;
  {
    std::lock_guard hold(lock_);
    for (const auto& taken : inbound_.take_taken())
      outbound_.tell_taken(taken.peer, taken.position);
    lost = outbound_.take_lost();
    if (!lost.empty()) why = why_;
    pump();
  }
  for (routing::Address peer : lost)
    receiver.lost(peer, why.empty() ? "no gateway leads to it any more" : why);
  return frames + lost.size();
}

std::size_t End::read(std::uint32_t number, Incoming& incoming) {
  stream::Connection& connection = *ways_[number].connection;
  std::size_t frames = 0;
  bool more = true;
  for (int turn = 0; more && turn < kReadsATurn; ++turn) {
    more = connection.receive();
    routing::Splitter splitter(connection.readable());
    while (auto frame = splitter.next()) {
      ++frames;
      if (take(number, frame->header, frame->payload, incoming)) continue;
      close(number, "it sent something malformed");
      return frames;
    }
    connection.consume(splitter.used());
    if (splitter.malformed()) {
      close(number, "it sent something malformed");
      return frames;
    }
  }
  if (connection.state() == stream::Connection::State::kClosed) close(number, connection.why());
  return frames;
}

bool End::take(std::uint32_t number, const routing::FrameHeader& header, routing::Bytes payload,
               Incoming& incoming) {
  using routing::FrameKind;
  if (header.kind == FrameKind::kData || header.kind == FrameKind::kBye)
    return inbound_.frame(header, payload, incoming);
  if (header.kind == FrameKind::kReach) expect_ticks();
  std::lock_guard hold(lock_);
  return outbound_.control(number, header, payload);
}

// What can be reached has changed. A peer is lost when two ticks find that no way leads to it.
void End::expect_ticks() {
  ticks_ = kTicks;
  timespec tick{0, kTickNs};
  itimerspec times{tick, tick};
  ::timerfd_settime(timer_.get(), 0, &times, nullptr);
}

void End::take_ticks() {
  std::uint64_t passed = 0;
  if (::read(timer_.get(), &passed, sizeof passed) != sizeof passed) return;
  std::lock_guard hold(lock_);
  outbound_.tick();
  if (--ticks_ != 0) return;
  itimerspec never{};
  ::timerfd_settime(timer_.get(), 0, &never, nullptr);
}

void End::close(std::uint32_t number, const std::string& why) {
  expect_ticks();
  std::lock_guard hold(lock_);
  Way& way = ways_[number];
  why_ = fmt::format("the connection to its gateway at {} broke ({})", way.name, why);
  way.connection.reset();  // its descriptor leaves the epoll set
  open_ways_.fetch_sub(1);
  outbound_.close(number);
  pump();
}

}  // namespace terrane::transport::routed
