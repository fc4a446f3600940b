#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/secret.h"

namespace terrane::stream {

// Of one key, before the next is made of it: 2^22 records of 16 KiB, a quarter of what RFC 8446
// (section 5.5) allows.
inline constexpr std::uint64_t kBytesPerKey = std::uint64_t{64} << 30;

// The key of all TLS connections of a job that have one purpose; copies share it.
class TlsKey {
 public:
  // `purpose` names the use, as "gateway": connections with different purposes refuse each other.
  // `bytes_per_key`: a sender goes on with a new key after so many. Fails where OpenSSL on this
  // host has no TLS 1.3 with AES-128-GCM.
  static base::Result<TlsKey> derive(const Secret& secret, std::string_view purpose,
                                     std::uint64_t bytes_per_key = kBytesPerKey);

 private:
  friend class TlsSession;
  struct Shared;
  explicit TlsKey(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<const Shared> shared_;
};

enum class TlsRole { kClient, kServer };
enum class TlsState {
  kGoingOn,  // neither side has proved anything yet
  kOpen,     // both sides have proved the key
  kRefused,  // complaint() says why; for good
  kClosed    // the other side has said that it sends nothing more; for good
};

// One side of a TLS 1.3 connection (RFC 8446) whose two sides prove that they know the key, without
// certificates. Each connection has fresh keys (X25519), so the secret does not open recordings.
// There is no other version, no other cipher than AES-128-GCM, no ticket, no early data. Knows no
// socket; one thread at a time.
class TlsSession {
 public:
  // The client's first message is in out() at once.
  TlsSession(const TlsKey& key, TlsRole role);
  ~TlsSession();
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;

  TlsState state() const;
  // Why it was refused, for a person: half a sentence about the other side ("it does not know
  // ...").
  const std::string& complaint() const;

  struct Taken {
    std::size_t wire;   // bytes that were taken from the front of `wire`
    std::size_t plain;  // bytes that were written to the front of `plain`
  };
  // Takes what came from the other side, and gives what is plain of it. Stops where `plain` is full
  // (then call again, also with an empty `wire`), or where `wire` is used up; so holds a record at
  // most. Takes nothing once the session is refused or closed.
  Taken take(std::span<const std::byte> wire, std::span<std::byte> plain);

  // Encrypts from the front of `plain` into out(), in records of 16 KiB, and says how many bytes it
  // took: fewer than all where out() is full, none before the session is open.
  std::size_t write(std::span<const std::byte> plain);
  // Tells the other side, after all that was written, that nothing more comes.
  void close();

  // To be sent, in order; valid until the next call of another function. At most kOutBytes and a
  // record.
  std::span<const std::byte> out() const;
  // `size` bytes of the front of out() were sent.
  void sent(std::size_t size);

  static constexpr std::size_t kOutBytes = std::size_t{256} << 10;
  // More from a side that has proved nothing: refused.
  static constexpr std::size_t kHandshakeBytes = 4096;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace terrane::stream
