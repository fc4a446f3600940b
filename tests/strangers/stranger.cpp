#include "strangers/stranger.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace terrane::strangers {
namespace {

constexpr std::uint64_t kPatienceMs = 20'000;  // of a port that has heard all that there is
constexpr std::uint64_t kByteMs = 2;           // between two bytes of a slow one
constexpr std::uint32_t kGarbageBytes = 4000;

}  // namespace

std::uint64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kWrongKey:
      return "wrong key";
    case Kind::kGarbage:
      return "garbage";
    case Kind::kHalfOpen:
      return "half open";
    case Kind::kSlow:
      return "slow";
    case Kind::kReplay:
      return "replayed";
    case Kind::kClosedAtOnce:
      return "closed at once";
    case Kind::kGood:
      return "good";
  }
  return "";
}

Stranger::Stranger(Kind kind, base::UniqueFd socket, const Scene& scene, base::Prng& random)
    : kind_(kind), socket_(std::move(socket)), scene_(scene), until_ms_(now_ms() + kPatienceMs) {
  switch (kind) {
    case Kind::kGarbage:
      out_.resize(100 + random.below(kGarbageBytes));
      for (auto& byte : out_) byte = static_cast<std::byte>(random.below(256));
      break;
    case Kind::kHalfOpen:
      until_ms_ = now_ms() + scene.patience_ms;
      [[fallthrough]];
    case Kind::kWrongKey:
    case Kind::kSlow:
      talk_ = make_talk(scene.language, scene.wrong);
      break;
    case Kind::kGood:
      talk_ = make_talk(scene.language, scene.right);
      break;
    case Kind::kReplay:
      replay();
      break;
    case Kind::kClosedAtOnce:
      break;
  }
  if (talk_) say(talk_->take_out());
}

void Stranger::say(Bytes bytes) {
  if (bytes.empty()) return;
  if (kind_ == Kind::kHalfOpen) {
    bytes.resize(said_.empty() ? bytes.size() / 2 : 0);
  }
  said_.push_back({heard_, bytes});
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void Stranger::replay() {
  const std::vector<Said>& all = scene_.recording;
  while (said_.size() < all.size() && heard_ >= all[said_.size()].heard) {
    say(all[said_.size()].bytes);
  }
}

short Stranger::wants() const {
  if (kind_ == Kind::kClosedAtOnce) return POLLOUT;
  bool may_send = !out_.empty() && (kind_ != Kind::kSlow || next_byte_ms_ <= now_ms());
  return static_cast<short>(POLLIN | (may_send ? POLLOUT : 0));
}

std::uint64_t Stranger::wake_ms() const {
  return kind_ == Kind::kSlow && !out_.empty() ? std::min(until_ms_, next_byte_ms_) : until_ms_;
}

// False: the port has closed the connection.
bool Stranger::send_some(std::uint64_t now) {
  std::size_t some = kind_ == Kind::kSlow ? 1 : out_.size();
  ssize_t sent = ::send(socket_.get(), out_.data(), some, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  out_.erase(out_.begin(), out_.begin() + sent);
  next_byte_ms_ = now + kByteMs;
  return true;
}

End Stranger::hear() {
  std::byte bytes[4096];
  ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return End::kNone;
  if (got <= 0) return End::kRefused;
  heard_ += static_cast<std::size_t>(got);
  if (kind_ == Kind::kReplay) replay();
  if (!talk_) return End::kNone;
  talk_->take(std::span(bytes).first(static_cast<std::size_t>(got)));
  say(talk_->take_out());
  return End::kNone;
}

End Stranger::advance(short ready, std::uint64_t now) {
  if (kind_ == Kind::kClosedAtOnce && (ready & POLLOUT) != 0) return End::kLeft;
  if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0) {
    if (hear() == End::kRefused) return End::kRefused;
  }
  if ((ready & POLLOUT) != 0 && !out_.empty() && !send_some(now)) return End::kRefused;
  if (talk_ && talk_->state() == Talk::State::kLetIn && out_.empty()) return End::kLetIn;
  return now >= until_ms_ ? End::kLeft : End::kNone;
}

}  // namespace terrane::strangers
