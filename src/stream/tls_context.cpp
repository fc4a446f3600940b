#include "stream/tls_context.h"

#include <openssl/err.h>

#include <cstring>

namespace terrane::stream {
namespace {

constexpr const char* kCipher = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char kCipherNumber[2] = {0x13, 0x01};
constexpr std::uint32_t kCipherId = 0x03001301;  // as SSL_CIPHER_get_id says it

const PreSharedKey& key_of(SSL* ssl) {
  return *static_cast<const PreSharedKey*>(
      openssl().SSL_CTX_get_ex_data(openssl().SSL_get_SSL_CTX(ssl), 0));
}

// The key in the form in which OpenSSL takes it; null without memory.
SSL_SESSION* session_of(SSL* ssl) {
  const PreSharedKey& key = key_of(ssl);
  SSL_SESSION* session = openssl().SSL_SESSION_new();
  const SSL_CIPHER* cipher = openssl().SSL_CIPHER_find(ssl, kCipherNumber);
  if (session == nullptr || cipher == nullptr ||
      openssl().SSL_SESSION_set1_master_key(
          session, reinterpret_cast<const unsigned char*>(key.bytes.data()), key.bytes.size()) !=
          1 ||
      openssl().SSL_SESSION_set_cipher(session, cipher) != 1 ||
      openssl().SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
    openssl().SSL_SESSION_free(session);
    return nullptr;
  }
  return session;
}

int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, std::size_t* size,
              SSL_SESSION** session) {
  const std::string& name = key_of(ssl).identity;
  *identity = reinterpret_cast<const unsigned char*>(name.data());
  *size = name.size();
  *session = session_of(ssl);
  return *session != nullptr;
}

// Without a session the handshake goes on without the key, and ends for want of a certificate.
int find_key(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
  const std::string& name = key_of(ssl).identity;
  bool is_ours = size == name.size() && std::memcmp(identity, name.data(), size) == 0;
  *session = is_ours ? session_of(ssl) : nullptr;
  return !is_ours || *session != nullptr;
}

}  // namespace

base::Result<SslContext> make_tls_context(const PreSharedKey& key) {
  if (auto loaded = load_openssl(); !loaded) return loaded.error();
  openssl().ERR_clear_error();
  char groups[] = "X25519:P-256";
  SslContext made(openssl().SSL_CTX_new(openssl().TLS_method()));
  SSL_CTX* context = made.get();
  if (context == nullptr ||
      openssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, nullptr) !=
          1 ||
      openssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION, nullptr) !=
          1 ||
      openssl().SSL_CTX_set_ciphersuites(context, kCipher) != 1 ||
      openssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, groups) != 1 ||
      openssl().SSL_CTX_set_num_tickets(context, 0) != 1) {
    return base::error("OpenSSL on this host cannot make a TLS 1.3 connection with {}: {}", kCipher,
                       openssl().ERR_reason_error_string(openssl().ERR_get_error()));
  }
  openssl().SSL_CTX_clear_options(context,
                                  SSL_OP_ENABLE_MIDDLEBOX_COMPAT | SSL_OP_ALLOW_NO_DHE_KEX);
  openssl().SSL_CTX_set_options(context,
                                SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  openssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
  openssl().SSL_CTX_set_psk_use_session_callback(context, offer_key);
  openssl().SSL_CTX_set_psk_find_session_callback(context, find_key);
  openssl().SSL_CTX_set_ex_data(context, 0, const_cast<PreSharedKey*>(&key));
  return made;
}

bool proved_with_key(const SSL* ssl) {
  const SSL_CIPHER* cipher = openssl().SSL_get_current_cipher(ssl);
  return openssl().SSL_version(ssl) == TLS1_3_VERSION && openssl().SSL_session_reused(ssl) == 1 &&
         cipher != nullptr && openssl().SSL_CIPHER_get_id(cipher) == kCipherId;
}

}  // namespace terrane::stream
