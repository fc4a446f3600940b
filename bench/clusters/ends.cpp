#include "clusters/ends.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "clusters/sockets.h"

namespace terrane::bench {
namespace {

constexpr std::size_t kReplyBytes = 4160, kPages = 64;
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

struct Request {
  std::uint64_t body_bytes = 0;  // that follow
  std::uint64_t reply_bytes = 0;
  std::byte zeros[48] = {};
};
static_assert(sizeof(Request) == 64);

void send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) give_up("cannot send");
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
}

// A number of bytes whose values mean nothing.
void send_some(int socket, std::uint64_t size) {
  static const std::vector<std::byte> piece(kPieceBytes);
  for (std::uint64_t some; size > 0; size -= some) {
    some = std::min<std::uint64_t>(size, piece.size());
    send_all(socket, std::span(piece).first(some));
  }
}

void receive_some(int socket, std::uint64_t size) {
  static std::vector<std::byte> piece(kPieceBytes);
  while (size > 0) {
    ssize_t got = ::recv(socket, piece.data(), std::min<std::uint64_t>(size, piece.size()), 0);
    if (got == 0) give_up("the server has gone");
    if (got < 0 && errno != EINTR) give_up("cannot read");
    size -= static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
  }
}

class Server {
 public:
  explicit Server(const EndOptions& options)
      : delay_ns_(options.delay_ns), socket_(accept_one(listen_on(options.port).get())) {}

  void run() {
    std::vector<std::byte> bytes(kPieceBytes);
    for (ssize_t got; (got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0)) > 0;) {
      arrived_ns_ = now_ns();
      for (auto rest = std::span(bytes).first(static_cast<std::size_t>(got)); !rest.empty();) {
        rest = rest.subspan(take(rest));
      }
      answer();
    }
  }

 private:
  std::size_t take(std::span<const std::byte> bytes) {
    std::uint64_t missing = sizeof request_ + request_.body_bytes - taken_;
    if (taken_ < sizeof request_) missing = sizeof request_ - taken_;
    std::size_t some = std::min<std::uint64_t>(bytes.size(), missing);
    if (taken_ < sizeof request_) {
      std::memcpy(reinterpret_cast<std::byte*>(&request_) + taken_, bytes.data(), some);
    }
    taken_ += some;
    if (taken_ >= sizeof request_ && taken_ == sizeof request_ + request_.body_bytes) {
      owed_ += request_.reply_bytes;
      request_ = {};
      taken_ = 0;
    }
    return some;
  }

  // All requests that came at once, at once.
  void answer() {
    if (owed_ == 0) return;
    if (delay_ns_ > 0) wait_until(arrived_ns_ + delay_ns_);
    send_some(socket_.get(), owed_);
    owed_ = 0;
  }

  std::uint64_t delay_ns_;
  base::UniqueFd socket_;
  Request request_;
  std::uint64_t taken_ = 0;  // bytes of the request and its body
  std::uint64_t owed_ = 0;   // bytes of replies
  std::uint64_t arrived_ns_ = 0;
};

class Client {
 public:
  explicit Client(const EndOptions& options)
      : delay_ns_(options.delay_ns), socket_(dial(options.to)) {}

  // Nanoseconds of `count` requests at once.
  std::uint64_t ask(std::size_t count, const Request& request) {
    std::uint64_t begin = now_ns();
    if (delay_ns_ > 0) wait_until(begin + delay_ns_);
    std::vector<Request> all(count, request);
    send_all(socket_.get(), std::as_bytes(std::span(all)));
    send_some(socket_.get(), request.body_bytes);
    receive_some(socket_.get(), count * request.reply_bytes);
    return now_ns() - begin;
  }

  double median_us(std::uint32_t rounds, std::size_t count) {
    std::vector<std::uint64_t> times;
    for (std::uint32_t round = 0; round < rounds + rounds / 10; ++round) {
      std::uint64_t time = ask(count, {.reply_bytes = kReplyBytes});
      if (round >= rounds / 10) times.push_back(time);
    }
    auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return static_cast<double>(*middle) / 1e3;
  }

 private:
  std::uint64_t delay_ns_;
  base::UniqueFd socket_;
};

}  // namespace

void run_server(const EndOptions& options) { Server(options).run(); }

void run_client(const EndOptions& options) {
  Client client(options);
  if (options.rounds > 0) fmt::print("read_us={:.2f}\n", client.median_us(options.rounds, 1));
  if (options.page_rounds > 0) {
    fmt::print("pages_us={:.2f}\n", client.median_us(options.page_rounds, kPages));
  }
  if (options.bulk_bytes == 0) return;
  auto size = static_cast<double>(options.bulk_bytes);
  auto there = client.ask(1, {.body_bytes = options.bulk_bytes, .reply_bytes = 64});
  auto back = client.ask(1, {.reply_bytes = options.bulk_bytes});
  fmt::print("there_gbs={:.3f}\nback_gbs={:.3f}\n", size / static_cast<double>(there),
             size / static_cast<double>(back));
}

}  // namespace terrane::bench
