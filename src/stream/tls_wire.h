#pragma once

#include <openssl/bio.h>

#include <cstddef>
#include <span>
#include <vector>

namespace terrane::stream {

// What OpenSSL reads from and writes to instead of a socket, without a copy in between.
struct TlsWire {
  std::span<const std::byte> in;
  std::vector<std::byte> out;
  std::size_t sent = 0;  // bytes of the front of out
};

// Reads from `wire` and writes to it, which outlives the BIO; null without memory.
BIO* make_bio(TlsWire& wire);

}  // namespace terrane::stream
