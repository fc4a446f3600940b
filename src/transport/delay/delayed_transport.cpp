#include "transport/delay/delayed_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "platform/wait.h"

namespace terrane::transport::delay {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

}  // namespace

DelayedTransport::DelayedTransport(std::unique_ptr<Transport> inner, std::uint64_t latency_ns,
                                   std::vector<bool> delayed)
    : inner_(std::move(inner)),
      latency_ns_(latency_ns),
      delayed_(std::move(delayed)),
      started_ns_(delayed_.size()),
      next_due_ns_(kNever),
      held_(delayed_.size()) {}

std::string DelayedTransport::describe() const {
  return fmt::format("{}, delayed by {} us", inner_->describe(), latency_ns_ / 1000);
}

void DelayedTransport::send(NodeId to, Bytes head, Bytes tail) {
  if (!delayed_.at(to.value)) return inner_->send(to, head, tail);
  std::uint64_t due_ns = platform::now_ns() + latency_ns_;
  std::vector<std::byte> stamped(sizeof due_ns + head.size());
  std::memcpy(stamped.data(), &due_ns, sizeof due_ns);
  if (!head.empty()) std::memcpy(stamped.data() + sizeof due_ns, head.data(), head.size());
  inner_->send(to, stamped, tail);
}

void DelayedTransport::received(NodeId from, Bytes message) {
  Held held{0, {}, {}};
  if (delayed_[from.value] && message.size() >= sizeof held.due_ns) {
    std::memcpy(&held.due_ns, message.data(), sizeof held.due_ns);
    message = message.subspan(sizeof held.due_ns);
  }
  held.message.assign(message.begin(), message.end());
  held_[from.value].push(std::move(held));
}

void DelayedTransport::lost(NodeId peer, std::string_view why) {
  held_[peer.value].push({0, {}, std::string(why)});
}

std::size_t DelayedTransport::poll(Receiver& receiver) {
  if (!delivering_.try_lock()) return 0;
  std::lock_guard delivering(delivering_, std::adopt_lock);
  inner_->poll(*this);
  return deliver_due(receiver);
}

std::size_t DelayedTransport::deliver_due(Receiver& receiver) {
  std::size_t messages = 0;
  std::uint64_t next_ns = kNever;
  std::uint64_t now_ns = platform::now_ns();
  for (std::uint32_t node = 0; node < held_.size(); ++node) {
    auto& queue = held_[node];
    while (!queue.empty() && queue.front().due_ns <= now_ns) {
      Held held = std::move(queue.front());
      queue.pop();
      if (held.lost.empty()) {
        receiver.received(NodeId{node}, held.message);
        ++messages;
      } else {
        receiver.lost(NodeId{node}, held.lost);
      }
    }
    if (!queue.empty()) next_ns = std::min(next_ns, queue.front().due_ns);
  }
  bool changed = next_due_ns_.exchange(next_ns) != next_ns;
  if (changed && next_ns != kNever && attending_.load() == 0) tell_sleepers();
  return messages;
}

// A sleeping thread does not know when the next message is due.
void DelayedTransport::tell_sleepers() { inner_->interrupt(); }

void DelayedTransport::attend() {
  attending_.fetch_add(1);
  inner_->attend();
}

bool DelayedTransport::unattend() {
  bool look = inner_->unattend();
  if (attending_.fetch_sub(1) == 1 && next_due_ns_.load() != kNever) tell_sleepers();
  return look || is_due();
}

bool DelayedTransport::is_due() const {
  std::uint64_t due_ns = next_due_ns_.load();
  return due_ns != kNever && due_ns <= platform::now_ns();
}

void DelayedTransport::sleep(std::uint64_t timeout_ns) {
  std::uint64_t due_ns = next_due_ns_.load();
  std::uint64_t now_ns = platform::now_ns();
  std::uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
  inner_->sleep(std::min(timeout_ns, left_ns));
}

}  // namespace terrane::transport::delay
