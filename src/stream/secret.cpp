#include "stream/secret.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/check.h"
#include "stream/openssl_api.h"

namespace terrane::stream {

base::Result<> fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::errno_error("cannot get random numbers for the job's secret");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

base::Result<Secret> Secret::random() {
  Secret secret;
  if (auto filled = fill_random(secret.bytes_); !filled) return filled.error();
  return secret;
}

std::optional<Secret> Secret::parse(std::string_view hex) {
  Secret secret;
  if (hex.size() != 2 * secret.bytes_.size()) return std::nullopt;
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < secret.bytes_.size(); ++i) {
    int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    secret.bytes_[i] = static_cast<std::byte>(high << 4 | low);
  }
  return secret;
}

std::string Secret::hex() const {
  std::string text;
  for (std::byte byte : bytes_) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

Secret Secret::derive(std::string_view purpose) const {
  Proof proof = prove(purpose, {});
  Secret derived;
  std::copy_n(proof.begin(), derived.bytes_.size(), derived.bytes_.begin());
  return derived;
}

Proof Secret::prove(std::string_view role,
                    std::initializer_list<std::span<const std::byte>> parts) const {
  std::vector<unsigned char> message(role.begin(), role.end());
  message.push_back(0);
  for (auto part : parts) {
    for (std::byte byte : part) message.push_back(static_cast<unsigned char>(byte));
  }
  Proof proof;
  unsigned size = 0;
  const unsigned char* done = openssl().HMAC(
      openssl().EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()), message.data(),
      message.size(), reinterpret_cast<unsigned char*>(proof.data()), &size);
  TERRANE_CHECK(done != nullptr && size == proof.size(), "HMAC-SHA-256 gives 32 bytes");
  return proof;
}

bool same_proof(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && openssl().CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace terrane::stream
