#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "stream/openssl_api.h"
#include "stream/secret.h"

namespace terrane::stream {

using SslContext = std::unique_ptr<SSL_CTX, OpensslFree<&OpensslApi::SSL_CTX_free>>;

// A key that both sides know before they connect (RFC 8446, section 2.2).
struct PreSharedKey {
  std::string identity;  // sent in the clear
  Proof bytes;
};

// What all sessions of a key have in common. `key` outlives it and its sessions.
base::Result<SslContext> make_tls_context(const PreSharedKey& key);
// Whether the finished handshake was the one that the context asks for.
bool proved_with_key(const SSL* ssl);

}  // namespace terrane::stream
