#include "tools/gateway/ports.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "routing/splitter.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr int kReadsATurn = 4;  // so that one that sends without end does not keep all others away

}  // namespace

Ports::Ports(Loop& loop, routing::Router router, std::uint64_t silence_ms, Handlers handlers)
    : loop_(loop),
      router_(std::move(router)),
      silence_ms_(silence_ms),
      handlers_(std::move(handlers)) {}

Ports::~Ports() {
  for (auto& [number, port] : ports_) loop_.forget(port.connection->fd());
}

bool Ports::is_free(routing::Address address) const {
  return std::none_of(ports_.begin(), ports_.end(),
                      [&](const auto& port) { return port.second.address == address; });
}

bool Ports::add(std::unique_ptr<stream::Connection> connection,
                const transport::routed::Hello& hello) {
  std::uint32_t number = next_++;
  if (!is_free(hello.address) || !router_.open(number, hello.address)) return false;
  if (silence_ms_ != 0) connection->limit_silence(silence_ms_, hello.address.is_node());
  loop_.watch(connection->fd(), EPOLLIN, [this, number](std::uint32_t) { on_ready(number); });
  ports_[number] = {std::move(connection), hello.address, hello.name};
  if (hello.address.is_gateway()) handlers_.on_link(hello.name);
  on_ready(number);  // its first frames may have come behind its hello
  return true;
}

void Ports::set_own(OwnEnd& end) {
  own_ = &end;
  router_.open(kOwnPort, end.address());
  pump_all();
}

std::vector<std::string> Ports::links() const {
  std::vector<std::string> names;
  for (const auto& [number, port] : ports_)
    if (port.address.is_gateway()) names.push_back(port.name);
  return names;
}

void Ports::on_ready(std::uint32_t number) {
  read(number);
  pump_all();
}

void Ports::read(std::uint32_t number) {
  auto found = ports_.find(number);
  if (found == ports_.end()) return;
  stream::Connection& connection = *found->second.connection;
  bool more = true;
  for (int turn = 0; more && turn < kReadsATurn; ++turn) {
    more = connection.receive();
    routing::Splitter splitter(connection.readable());
    bool makes_sense = true;
    while (auto frame = splitter.next()) {
      makes_sense = router_.received(number, frame->header, frame->payload);
      if (!makes_sense) break;
    }
    if (!makes_sense || splitter.malformed()) return close(number, "it sent something malformed");
    connection.consume(splitter.used());
  }
  if (connection.state() == stream::Connection::State::kClosed) close(number, connection.why());
}

void Ports::close(std::uint32_t number, const std::string& why) {
  auto found = ports_.find(number);
  std::string reason = why;  // it may be the connection's own
  Port port = std::move(found->second);
  loop_.forget(port.connection->fd());
  ports_.erase(found);
  router_.close(number);
  if (port.address.is_gateway()) handlers_.on_unlink(port.name, reason);
}

void Ports::pump_all() {
  for (auto& [number, port] : ports_)
    if (router_.has_output(number) || port.watches_room) pump(number, port);
  if (own_ != nullptr && router_.has_output(kOwnPort)) pump_own();
}

// One batch is on its way to the socket at a time: what gathers meanwhile is the next one.
void Ports::pump(std::uint32_t number, Port& port) {
  stream::Connection& connection = *port.connection;
  connection.flush();
  while (connection.is_flushed() && router_.has_output(number)) {
    router_.fill(number, connection.outgoing(), kBatchBytes);
    connection.flush();
  }
  if (connection.wants_room() == port.watches_room) return;
  port.watches_room = !port.watches_room;
  loop_.change(connection.fd(), port.watches_room ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void Ports::pump_own() {
  scratch_.clear();
  router_.fill(kOwnPort, scratch_, kBatchBytes);
  routing::Splitter splitter(scratch_);
  while (auto frame = splitter.next()) own_->received(frame->header, frame->payload);
  carry_own(*own_);
}

void Ports::carry_own(OwnEnd& end) {
  std::vector<std::byte> bytes;
  end.fill(bytes);
  routing::Splitter splitter(bytes);
  while (auto frame = splitter.next()) router_.received(kOwnPort, frame->header, frame->payload);
  for (auto& [number, port] : ports_)
    if (router_.has_output(number)) pump(number, port);
}

}  // namespace terrane::tools
