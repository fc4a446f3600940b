#include "strangers/talk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "stream/handshake.h"
#include "stream/tls_session.h"

namespace terrane::strangers {
namespace {

stream::Nonce random_nonce() {
  stream::Nonce nonce;
  TERRANE_CHECK(stream::fill_random(nonce).ok(), "a test has random numbers");
  return nonce;
}

class ProofTalk final : public Talk {
 public:
  explicit ProofTalk(const stream::Secret& secret)
      : side_(stream::Handshake::of_host(secret, random_nonce())) {}

  Bytes take_out() override { return std::exchange(side_.out, {}); }
  void take(std::span<const std::byte> bytes) override {
    while (!bytes.empty() && side_.wanted() > 0) {
      std::size_t some = std::min(bytes.size(), side_.wanted());
      side_.take(bytes.first(some));
      bytes = bytes.subspan(some);
    }
  }
  State state() const override {
    if (side_.state() == stream::HandshakeState::kGoingOn) return State::kGoingOn;
    return side_.state() == stream::HandshakeState::kProven ? State::kLetIn : State::kRefused;
  }

 private:
  stream::Handshake side_;
};

class TlsTalk final : public Talk {
 public:
  explicit TlsTalk(const stream::TlsKey& key) : side_(key, stream::TlsRole::kClient) {}

  Bytes take_out() override {
    Bytes bytes(side_.out().begin(), side_.out().end());
    side_.sent(bytes.size());
    return bytes;
  }
  void take(std::span<const std::byte> bytes) override {
    std::byte plain[4096];
    for (stream::TlsSession::Taken got{1, 0}; got.wire + got.plain > 0;) {
      got = side_.take(bytes, plain);
      bytes = bytes.subspan(got.wire);
    }
  }
  State state() const override {
    if (side_.state() == stream::TlsState::kGoingOn) return State::kGoingOn;
    return side_.state() == stream::TlsState::kRefused ? State::kRefused : State::kLetIn;
  }

 private:
  stream::TlsSession side_;
};

}  // namespace

std::unique_ptr<Talk> make_talk(const Language& language, const stream::Secret& secret) {
  if (!language.is_tls) return std::make_unique<ProofTalk>(secret);
  auto key = stream::TlsKey::derive(secret, language.purpose);
  TERRANE_CHECK(key.ok(), "OpenSSL has TLS 1.3");
  return std::make_unique<TlsTalk>(key.value());
}

}  // namespace terrane::strangers
