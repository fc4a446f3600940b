#include "tools/launch/watch/metrics_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "stream/socket_address.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMostReaders = 32, kMostRequest = 8192;
constexpr std::uint64_t kReaderMs = 5000;
constexpr std::uint64_t kLookAtReadersMs = 1000;
constexpr int kReadersAtOnce = 16;
constexpr const char* kTextType = "text/plain; charset=utf-8";
constexpr const char* kPageType = "text/plain; version=0.0.4; charset=utf-8";

std::uint16_t listening_port(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string listening_place(const sockaddr_storage& address) {
  std::string text = stream::address_text(address);
  if (address.ss_family == AF_INET6) text = "[" + text + "]";
  return fmt::format("{}:{}", text, listening_port(address));
}

}  // namespace

base::Result<MetricsAddress> parse_metrics_address(const std::string& text) {
  std::size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  std::uint16_t number = 0;
  const char* end = port.data() + port.size();
  auto read = std::from_chars(port.data(), end, number);
  auto address = stream::parse_address(host, number);
  if (read.ec != std::errc() || read.ptr != end || !address)
    return base::error(
        "--metrics {}: give a port of this host (9100), or an address in numbers and a port "
        "(192.168.1.5:9100, [::]:9100)",
        text);
  return MetricsAddress{*address, true};
}

MetricsServer::MetricsServer(Loop& loop, Collector& collector)
    : loop_(loop), collector_(collector), late_(loop, [this] { drop_late(); }) {}

MetricsServer::~MetricsServer() {
  if (listener_) loop_.forget(listener_.get());
  for (const auto& visitor : visitors_)
    if (visitor->socket) loop_.forget(visitor->socket.get());
}

base::Result<> MetricsServer::open(const MetricsAddress& at) {
  sockaddr_storage address = at.address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  listener_.reset(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = stream::address_size(address);
  if (!listener_ || ::bind(listener_.get(), generic, size) < 0 ||
      ::listen(listener_.get(), kReadersAtOnce) < 0)
    return base::error(
        "--metrics: cannot listen at {}: {}; give another port, or 0 for any that is free",
        listening_place(address), std::strerror(errno));
  size = sizeof address;
  ::getsockname(listener_.get(), generic, &size);
  url_ = fmt::format("http://{}/metrics", listening_place(address));
  if (!loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { admit(); }))
    return base::errno_error("--metrics: cannot watch its socket");
  return {};
}

void MetricsServer::admit() {
  base::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || visitors_.size() >= kMostReaders) return;
  auto visitor = std::make_shared<Visitor>();
  visitor->until_ms = now_ms() + kReaderMs;
  int fd = socket.get();
  visitor->socket = std::move(socket);
  visitors_.push_back(visitor);
  loop_.watch(fd, EPOLLIN, [this, weak = std::weak_ptr<Visitor>(visitor)](std::uint32_t events) {
    if (auto known = weak.lock()) on_ready(known, events);
  });
  if (!late_.is_set()) late_.set_in(kLookAtReadersMs);
}

void MetricsServer::on_ready(const std::shared_ptr<Visitor>& visitor, std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) return write(visitor);
  char bytes[2048];
  ssize_t got = ::recv(visitor->socket.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return drop(visitor);
  if (visitor->answered) return;  // more than one request
  visitor->request.append(bytes, static_cast<std::size_t>(got));
  if (visitor->request.find("\r\n\r\n") != std::string::npos) return answer(visitor);
  if (visitor->request.size() > kMostRequest)
    respond(visitor, "431 Request Header Fields Too Large", kTextType, "");
}

void MetricsServer::answer(const std::shared_ptr<Visitor>& visitor) {
  std::string line = visitor->request.substr(0, visitor->request.find("\r\n"));
  std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  bool is_http = first != std::string::npos && second != std::string::npos &&
                 line.compare(second + 1, 5, "HTTP/") == 0;
  if (!is_http) return respond(visitor, "400 Bad Request", kTextType, "this is HTTP\n");
  if (line.substr(0, first) != "GET")
    return respond(visitor, "405 Method Not Allowed", kTextType, "GET alone is answered\n");
  std::string path = line.substr(first + 1, second - first - 1);
  if (path.substr(0, path.find('?')) != "/metrics")
    return respond(visitor, "404 Not Found", kTextType, "the page is /metrics\n");
  visitor->answered = true;
  collector_.ask([this, weak = std::weak_ptr<Visitor>(visitor)](const JobView& view) {
    auto known = weak.lock();
    if (known && known->socket) respond(known, "200 OK", kPageType, page_.text(view));
  });
}

void MetricsServer::respond(const std::shared_ptr<Visitor>& visitor, const std::string& status,
                            const std::string& type, const std::string& body) {
  visitor->answered = true;
  visitor->response = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), body);
  write(visitor);
}

void MetricsServer::write(const std::shared_ptr<Visitor>& visitor) {
  while (visitor->sent < visitor->response.size()) {
    ssize_t sent = ::send(visitor->socket.get(), visitor->response.data() + visitor->sent,
                          visitor->response.size() - visitor->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return loop_.change(visitor->socket.get(), EPOLLIN | EPOLLOUT);
    if (sent < 0) break;
    visitor->sent += static_cast<std::size_t>(sent);
  }
  drop(visitor);
}

void MetricsServer::drop(const std::shared_ptr<Visitor>& visitor) {
  if (!visitor->socket) return;
  loop_.forget(visitor->socket.get());
  ::shutdown(visitor->socket.get(), SHUT_WR);
  visitor->socket.reset();
  std::erase(visitors_, std::shared_ptr<Visitor>(visitor));
}

void MetricsServer::drop_late() {
  std::list<std::shared_ptr<Visitor>> all = visitors_;
  for (const auto& visitor : all)
    if (now_ms() >= visitor->until_ms) drop(visitor);
  if (!visitors_.empty()) late_.set_in(kLookAtReadersMs);
}

}  // namespace terrane::tools
