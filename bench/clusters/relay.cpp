#include "clusters/relay.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>

#include "clusters/held_stream.h"
#include "clusters/sockets.h"

namespace terrane::bench {
namespace {

// What one direction may hold before its source is read no further.
constexpr std::size_t kHeldBytes = std::size_t{1} << 20, kHeldByDelayBytes = std::size_t{64} << 20;
constexpr int kTurns = 8;  // reads of one stream before the others have their turn

class Relay {
 public:
  explicit Relay(const RelayOptions& options)
      : options_(options),
        most_(options.delay_ns == 0 ? kHeldBytes : kHeldByDelayBytes),
        listener_(listen_on(options.port)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(listener_.get(), EPOLLIN, nullptr, EPOLL_CTL_ADD);
  }

  void run() {
    std::array<epoll_event, 64> events;
    while (ended_ < options_.streams) {
      int ready = wait(events);
      for (int i = 0; i < ready; ++i) {
        if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) accept();
        auto* side = static_cast<Side*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (side != nullptr) carry(*side, events[static_cast<std::size_t>(i)].events);
      }
      send_what_is_due();
      drop_ended();
    }
  }

 private:
  struct Side {
    HeldStream stream;
    Side* other = nullptr;
    std::uint32_t events = EPOLLIN;
  };
  struct Pair {
    Side accepted, dialled;
  };

  void watch(int socket, std::uint32_t events, void* side, int how) {
    epoll_event event{events, {.ptr = side}};
    if (::epoll_ctl(epoll_.get(), how, socket, &event) < 0) give_up("cannot watch a socket");
  }

  // Sleeps until something comes or until shortly before something is due; after that it polls.
  int wait(std::span<epoll_event> events) {
    std::uint64_t due = UINT64_MAX;
    for (Pair& pair : pairs_) {
      for (Side* side : {&pair.accepted, &pair.dialled}) {
        if (!side->stream.blocked()) due = std::min(due, side->stream.due_ns());
      }
    }
    std::uint64_t now = due == UINT64_MAX ? 0 : now_ns();
    std::uint64_t wake = due - std::min(due, kWakeUp_ns);
    std::uint64_t sleep_ns = wake > now ? wake - now : 0;
    timespec pause{static_cast<time_t>(sleep_ns / 1'000'000'000),
                   static_cast<long>(sleep_ns % 1'000'000'000)};
    int ready = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               due == UINT64_MAX ? nullptr : &pause, nullptr);
    if (ready < 0 && errno != EINTR) give_up("cannot wait");
    return std::max(ready, 0);
  }

  std::optional<stream::TlsSession> session(stream::TlsRole role, bool is_link) {
    if (!is_link || !options_.key) return std::nullopt;
    return stream::TlsSession(*options_.key, role);
  }

  void accept() {
    base::UniqueFd from = accept_one(listener_.get()), to = dial(options_.to);
    bool behind = options_.link_is_behind;
    pairs_.push_back({{HeldStream(std::move(from), session(stream::TlsRole::kServer, !behind),
                                  behind ? 0 : options_.delay_ns)},
                      {HeldStream(std::move(to), session(stream::TlsRole::kClient, behind),
                                  behind ? options_.delay_ns : 0)}});
    Pair& pair = pairs_.back();
    pair.accepted.other = &pair.dialled;
    pair.dialled.other = &pair.accepted;
    for (Side* side : {&pair.accepted, &pair.dialled}) {
      watch(side->stream.socket(), side->events, side, EPOLL_CTL_ADD);
      update(*side);
    }
  }

  void carry(Side& side, std::uint32_t events) {
    if (events & EPOLLOUT) side.stream.flush();
    for (int turn = 0; turn < kTurns && may_read(side); ++turn) {
      auto bytes = side.stream.read();
      if (!bytes.empty()) side.other->stream.write(bytes);
      if (bytes.size() < kHeldBytes / 16) break;  // the socket has no more
    }
    update(side);
    update(*side.other);
  }

  bool may_read(const Side& side) const {
    return !side.stream.ended() && (side.stream.open() ? side.other->stream.open() : true) &&
           side.other->stream.held_bytes() < most_;
  }

  void update(Side& side) {
    std::uint32_t wanted =
        (may_read(side) ? EPOLLIN : 0u) | (side.stream.blocked() ? EPOLLOUT : 0u);
    if (wanted == side.events) return;
    side.events = wanted;
    watch(side.stream.socket(), wanted, &side, EPOLL_CTL_MOD);
  }

  void send_what_is_due() {
    if (options_.delay_ns == 0) return;
    for (Pair& pair : pairs_) {
      for (Side* side : {&pair.accepted, &pair.dialled}) {
        if (side->stream.due_ns() == UINT64_MAX || side->stream.blocked()) continue;
        side->stream.flush();
        update(*side);
        update(*side->other);
      }
    }
  }

  // A direction that has ended is carried to its end before both are closed.
  void drop_ended() {
    ended_ += static_cast<std::uint32_t>(std::erase_if(pairs_, [](const Pair& pair) {
      const HeldStream &one = pair.accepted.stream, &other = pair.dialled.stream;
      return (one.ended() && other.held_bytes() == 0) || (other.ended() && one.held_bytes() == 0);
    }));
  }

  const RelayOptions& options_;
  std::size_t most_;
  base::UniqueFd listener_, epoll_;
  std::list<Pair> pairs_;
  std::uint32_t ended_ = 0;
};

}  // namespace

void run_relay(const RelayOptions& options) { Relay(options).run(); }

}  // namespace terrane::bench
