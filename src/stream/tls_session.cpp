#include "stream/tls_session.h"

#include <openssl/err.h>

#include <algorithm>

#include "base/check.h"
#include "stream/tls_context.h"
#include "stream/tls_wire.h"

namespace terrane::stream {
namespace {

constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
constexpr const char* kWithoutSecret = "it does not know the secret of this job";

// What OpenSSL's first error of a handshake that failed says about the other side.
std::string complaint_of(unsigned long error) {
  int reason = ERR_GET_REASON(error);
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "it does not speak TLS 1.3";
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_UNEXPECTED_MESSAGE:
      return "it does not speak TLS";
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_BINDER_DOES_NOT_VERIFY:
    case SSL_R_BAD_PSK:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
    case SSL_R_DIGEST_CHECK_FAILED:
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
      return kWithoutSecret;
    default:
      break;
  }
  if (reason > SSL_AD_REASON_OFFSET) return "it refused this side, as one without the job's secret";
  const char* text = openssl().ERR_reason_error_string(error);
  return fmt::format("it does not keep to TLS 1.3 ({})",
                     text != nullptr ? text : "no reason given");
}

}  // namespace

struct TlsKey::Shared {
  PreSharedKey key;
  std::uint64_t bytes_per_key;
  SslContext context;
};

base::Result<TlsKey> TlsKey::derive(const Secret& secret, std::string_view purpose,
                                    std::uint64_t bytes_per_key) {
  auto shared = std::make_shared<Shared>();
  shared->key = {fmt::format("terrane {}", purpose),
                 secret.prove("tls", {std::as_bytes(std::span(purpose))})};
  shared->bytes_per_key = bytes_per_key;
  auto context = make_tls_context(shared->key);
  if (!context) return context.error();
  shared->context = std::move(context).value();
  return TlsKey(std::move(shared));
}

struct TlsSession::State {
  explicit State(const TlsKey& of) : key(of.shared_) {}

  void begin(TlsRole role);
  void shake();
  // What a call that returned `result` means when it was no success.
  void fail(int result);
  void refuse(std::string why);
  void renew_key();

  std::shared_ptr<const TlsKey::Shared> key;
  TlsWire wire;
  std::unique_ptr<SSL, OpensslFree<&OpensslApi::SSL_free>> ssl;
  TlsState state = TlsState::kGoingOn;
  std::string complaint;
  std::size_t handshake_bytes = 0;
  std::uint64_t with_this_key = 0;  // bytes that were written
  bool closed_by_us = false;
};

void TlsSession::State::begin(TlsRole role) {
  openssl().ERR_clear_error();
  ssl.reset(openssl().SSL_new(key->context.get()));
  BIO* bio = ssl ? make_bio(wire) : nullptr;
  if (bio == nullptr) return refuse("this host has no memory for another connection");
  openssl().SSL_set_bio(ssl.get(), bio, bio);
  if (role == TlsRole::kClient) {
    // A certificate is never good enough: the list of those that are trusted is empty.
    openssl().SSL_set_verify(ssl.get(), SSL_VERIFY_PEER, nullptr);
    openssl().SSL_set_connect_state(ssl.get());
    shake();
  } else {
    openssl().SSL_set_accept_state(ssl.get());
  }
}

void TlsSession::State::refuse(std::string why) {
  state = TlsState::kRefused;
  complaint = std::move(why);
}

void TlsSession::State::fail(int result) {
  switch (openssl().SSL_get_error(ssl.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return;
    case SSL_ERROR_ZERO_RETURN:
      state = TlsState::kClosed;
      return;
    default:
      break;
  }
  unsigned long error = openssl().ERR_peek_error();
  bool changed = state == TlsState::kOpen &&
                 ERR_GET_REASON(error) == SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC;
  refuse(changed ? "what it sent was changed on the way" : complaint_of(error));
  openssl().ERR_clear_error();
}

void TlsSession::State::shake() {
  std::size_t before = wire.in.size();
  openssl().ERR_clear_error();
  int result = openssl().SSL_do_handshake(ssl.get());
  handshake_bytes += before - wire.in.size();
  if (result != 1) {
    fail(result);
    if (state == TlsState::kClosed) refuse("it closed the connection before it proved anything");
  } else if (proved_with_key(ssl.get())) {
    state = TlsState::kOpen;
  } else {
    refuse(kWithoutSecret);
  }
  if (state == TlsState::kGoingOn && handshake_bytes > kHandshakeBytes) {
    refuse(fmt::format("it sent more than {} bytes and proved nothing", kHandshakeBytes));
  }
}

void TlsSession::State::renew_key() {
  if (with_this_key < key->bytes_per_key) return;
  with_this_key = 0;
  openssl().SSL_key_update(ssl.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
}

TlsSession::TlsSession(const TlsKey& key, TlsRole role) : state_(std::make_unique<State>(key)) {
  state_->begin(role);
}
TlsSession::~TlsSession() = default;
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession& TlsSession::operator=(TlsSession&&) noexcept = default;

TlsState TlsSession::state() const { return state_->state; }
const std::string& TlsSession::complaint() const { return state_->complaint; }

TlsSession::Taken TlsSession::take(std::span<const std::byte> wire, std::span<std::byte> plain) {
  State& self = *state_;
  bool shaking = self.state == TlsState::kGoingOn;
  std::size_t first = wire.size();
  if (shaking) first = std::min(first, kHandshakeBytes + 1 - self.handshake_bytes);
  self.wire.in = wire.first(first);
  if (shaking) self.shake();
  std::size_t taken = first - self.wire.in.size();
  std::size_t got = 0;
  if (self.state == TlsState::kOpen) {
    self.wire.in = wire.subspan(taken);
    openssl().ERR_clear_error();
    while (got < plain.size()) {
      std::size_t some = 0;
      auto rest = plain.subspan(got);
      int result = openssl().SSL_read_ex(self.ssl.get(), rest.data(), rest.size(), &some);
      got += some;
      if (result == 1) continue;
      self.fail(result);
      break;
    }
    taken = wire.size() - self.wire.in.size();
  }
  self.wire.in = {};
  return {taken, got};
}

std::size_t TlsSession::write(std::span<const std::byte> plain) {
  State& self = *state_;
  if (self.closed_by_us) return 0;
  std::size_t taken = 0;
  openssl().ERR_clear_error();
  while (self.state == TlsState::kOpen && taken < plain.size() && out().size() < kOutBytes) {
    std::size_t size = std::min(plain.size() - taken, kRecordBytes), some = 0;
    self.renew_key();
    int result = openssl().SSL_write_ex(self.ssl.get(), plain.data() + taken, size, &some);
    if (result != 1) {
      self.fail(result);
      break;
    }
    taken += some;
    self.with_this_key += some;
  }
  return taken;
}

void TlsSession::close() {
  State& self = *state_;
  if (self.closed_by_us || self.state == TlsState::kGoingOn || self.state == TlsState::kRefused)
    return;
  self.closed_by_us = true;
  openssl().ERR_clear_error();
  openssl().SSL_shutdown(self.ssl.get());
}

std::span<const std::byte> TlsSession::out() const {
  return std::span(state_->wire.out).subspan(state_->wire.sent);
}

void TlsSession::sent(std::size_t size) {
  TlsWire& wire = state_->wire;
  TERRANE_CHECK(size <= wire.out.size() - wire.sent, "what is sent was in out()");
  wire.sent += size;
  if (wire.sent == wire.out.size()) {
    wire.out.clear();
    wire.sent = 0;
  } else if (wire.sent >= kOutBytes) {  // seldom: moves less than it has sent
    wire.out.erase(wire.out.begin(), wire.out.begin() + static_cast<std::ptrdiff_t>(wire.sent));
    wire.sent = 0;
  }
}

}  // namespace terrane::stream
