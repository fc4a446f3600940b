#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "stream/tls_session.h"

namespace terrane::stream {

// For tests: sessions that are joined by memory.
using Bytes = std::vector<std::byte>;

inline const Secret kSecret = *Secret::parse("00112233445566778899aabbccddeeff");
inline const Secret kOther = *Secret::parse("00112233445566778899aabbccddeefe");

inline TlsKey key_of(const Secret& secret, const char* purpose = "test",
                     std::uint64_t bytes_per_key = kBytesPerKey) {
  return TlsKey::derive(secret, purpose, bytes_per_key).value();
}

inline Bytes bytes_of(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes take_out(TlsSession& side) {
  Bytes bytes(side.out().begin(), side.out().end());
  side.sent(bytes.size());
  return bytes;
}

// Gives all of `wire`, in pieces; what was plain of it.
inline Bytes give(TlsSession& side, std::span<const std::byte> wire, std::size_t piece = SIZE_MAX) {
  Bytes all, plain(40'000);
  while (!wire.empty()) {
    auto some = wire.first(std::min(piece, wire.size()));
    auto [taken, got] = side.take(some, plain);
    all.insert(all.end(), plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(got));
    if (taken == 0 && got == 0) break;
    wire = wire.subspan(taken);
  }
  for (std::size_t got = 1; got != 0;) {  // of a record that `plain` had no room for
    got = side.take({}, plain).plain;
    all.insert(all.end(), plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(got));
  }
  return all;
}

struct TlsPair {
  explicit TlsPair(const Secret& of_client = kSecret, const Secret& of_server = kSecret)
      : TlsPair(key_of(of_client), key_of(of_server)) {}
  TlsPair(const TlsKey& of_client, const TlsKey& of_server)
      : client(of_client, TlsRole::kClient), server(of_server, TlsRole::kServer) {}

  // Carries bytes until neither side has any, in pieces of at most `piece`.
  void shake(std::size_t piece = SIZE_MAX) {
    while (!client.out().empty() || !server.out().empty()) {
      give(server, record(to_server, take_out(client)), piece);
      give(client, record(to_client, take_out(server)), piece);
    }
  }
  bool open() const {
    return client.state() == TlsState::kOpen && server.state() == TlsState::kOpen;
  }

  TlsSession client, server;
  Bytes to_server, to_client;  // all of the handshake

 private:
  static Bytes record(Bytes& all, Bytes some) {
    all.insert(all.end(), some.begin(), some.end());
    return some;
  }
};

}  // namespace terrane::stream
