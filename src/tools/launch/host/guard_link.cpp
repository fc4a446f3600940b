#include "tools/launch/host/guard_link.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/launch/host/forwarded_signals.h"
#include "tools/launch/host/process_tree.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kGatherMs = 50;

}  // namespace

GuardLink::GuardLink(Loop& loop, base::UniqueFd socket, std::uint64_t heartbeat_ms,
                     Handlers handlers)
    : loop_(loop),
      socket_(std::move(socket)),
      heartbeat_ms_(heartbeat_ms),
      handlers_(std::move(handlers)),
      guard_(::getppid()),
      moving_(1, std::max<std::uint64_t>(heartbeat_ms, 1)),
      look_(loop, [this] { look(); }),
      gather_(loop, [this] { pass_on_gathered(); }) {}

base::Result<> GuardLink::open() {
  sigset_t watched = forwarded_signals();
  signals_.reset(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  bool ok = signals_ &&
            loop_.watch(signals_.get(), EPOLLIN, [this](std::uint32_t) { read_signals(); }) &&
            loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { read_socket(); });
  if (!ok) return base::errno_error("cannot watch the process above");
  moving_.expect(0, now_ms());
  if (heartbeat_ms_ != 0) look_.set_in(moving_.period_ms());
  return {};
}

bool GuardLink::guard_is_going() const {
  return !socket_ || ::getppid() != guard_ || is_exiting(guard_);
}

void GuardLink::read_socket() {
  int signal = 0;
  ssize_t got = ::recv(socket_.get(), &signal, sizeof signal, MSG_DONTWAIT);
  if (got < 0) return;
  if (got == sizeof signal) return take(signal);
  loop_.forget(socket_.get());
  socket_.reset();
  look_.clear();
  handlers_.on_gone();
}

void GuardLink::read_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    take(static_cast<int>(info.ssi_signo));
  }
}

void GuardLink::take(int signal) {
  if (stops_or_continues(signal) || signal >= SIGRTMIN) return pass_on(signal);
  if (std::find(gathered_.begin(), gathered_.end(), signal) == gathered_.end())
    gathered_.push_back(signal);
  if (!gather_.is_set()) gather_.set_in(kGatherMs);
}

void GuardLink::pass_on_gathered() {
  for (int signal : std::exchange(gathered_, {})) pass_on(signal);
}

void GuardLink::pass_on(int signal) {
  if (signal == SIGTSTP) paused_ = true;
  if (signal == SIGCONT) paused_ = false;
  handlers_.on_signal(signal);
}

void GuardLink::look() {
  look_.set_in(moving_.period_ms());
  std::uint64_t now = now_ms();
  if (paused_ || !is_stopped(::getppid())) moving_.heard(0, now);
  if (moving_.look(now).empty()) return;
  look_.clear();
  handlers_.on_stopped();
}

}  // namespace terrane::tools
