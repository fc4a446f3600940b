// Other programs that speak TLS, made of OpenSSL itself, against a session.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "stream/tls_context.h"
#include "stream/tls_peers.h"

namespace terrane::stream {
namespace {

template <auto kFree>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

struct Certificate {
  std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>> key;
  std::unique_ptr<X509, FreedBy<X509_free>> text;
};

// Signed by itself.
Certificate make_certificate() {
  Certificate made{decltype(Certificate::key)(EVP_EC_gen("P-256")),
                   decltype(Certificate::text)(X509_new())};
  X509* text = made.text.get();
  X509_gmtime_adj(X509_getm_notBefore(text), 0);
  X509_gmtime_adj(X509_getm_notAfter(text), 3600);
  X509_set_pubkey(text, made.key.get());
  X509_sign(text, made.key.get(), EVP_sha256());
  return made;
}

// One side of a connection by OpenSSL's own means.
class Stranger {
 public:
  Stranger(TlsRole role, int version, const char* suites = nullptr)
      : context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    if (suites != nullptr) SSL_CTX_set_ciphersuites(context_.get(), suites);
    is_client_ = role == TlsRole::kClient;
  }

  SSL_CTX* context() { return context_.get(); }

  Bytes talk(const Bytes& wire) {
    if (!ssl_) begin();
    BIO_write(SSL_get_rbio(ssl_.get()), wire.data(), static_cast<int>(wire.size()));
    ERR_clear_error();
    SSL_do_handshake(ssl_.get());
    ERR_clear_error();
    Bytes out(4'000);
    int size = BIO_read(SSL_get_wbio(ssl_.get()), out.data(), static_cast<int>(out.size()));
    out.resize(static_cast<std::size_t>(std::max(size, 0)));
    return out;
  }
  bool open() const { return ssl_ && SSL_is_init_finished(ssl_.get()) == 1; }

 private:
  void begin() {
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    is_client_ ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  }

  SslContext context_;
  std::unique_ptr<SSL, FreedBy<SSL_free>> ssl_;
  bool is_client_;
};

void meet(TlsSession& session, Stranger& stranger) {
  for (int turn = 0; turn < 5; ++turn) give(session, stranger.talk(take_out(session)));
}

PreSharedKey key_of_test() {
  return {"terrane test", kSecret.prove("tls", {std::as_bytes(std::span("test", 4))})};
}

SSL_SESSION* external_key(SSL* ssl, unsigned char suite) {
  const unsigned char number[2] = {0x13, suite};
  PreSharedKey key = key_of_test();
  SSL_SESSION* session = SSL_SESSION_new();
  SSL_SESSION_set1_master_key(session, reinterpret_cast<unsigned char*>(key.bytes.data()), 32);
  SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, number));
  SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION);
  return session;
}

template <unsigned char kSuite>
int offer(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* size,
          SSL_SESSION** session) {
  static const std::string name = key_of_test().identity;
  *id = reinterpret_cast<const unsigned char*>(name.data());
  *size = name.size();
  *session = external_key(ssl, kSuite);
  return 1;
}

TEST(TlsStrangersTest, AClientOfOpensslWithTheKeyIsLetIn) {  // so the others fail for their reason
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  Stranger client(TlsRole::kClient, TLS1_3_VERSION);
  SSL_CTX_set_psk_use_session_callback(client.context(), offer<1>);
  meet(server, client);
  EXPECT_EQ(server.state(), TlsState::kOpen) << server.complaint();
  EXPECT_TRUE(client.open());
}

TEST(TlsStrangersTest, AClientThatSpeaksTls12IsRefused) {
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  Stranger client(TlsRole::kClient, TLS1_2_VERSION);
  meet(server, client);
  EXPECT_EQ(server.state(), TlsState::kRefused);
  EXPECT_EQ(server.complaint(), "it does not speak TLS 1.3");
}

TEST(TlsStrangersTest, AServerThatSpeaksTls12IsRefused) {
  TlsSession client(key_of(kSecret), TlsRole::kClient);
  Stranger server(TlsRole::kServer, TLS1_2_VERSION);
  Certificate certificate = make_certificate();
  SSL_CTX_use_certificate(server.context(), certificate.text.get());
  SSL_CTX_use_PrivateKey(server.context(), certificate.key.get());
  meet(client, server);
  EXPECT_EQ(client.state(), TlsState::kRefused);
  EXPECT_EQ(client.complaint(), "it does not speak TLS 1.3");
}

TEST(TlsStrangersTest, AClientWithAnotherCipherIsRefused) {
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  Stranger client(TlsRole::kClient, TLS1_3_VERSION, "TLS_CHACHA20_POLY1305_SHA256");
  SSL_CTX_set_psk_use_session_callback(client.context(), offer<3>);
  meet(server, client);
  EXPECT_EQ(server.state(), TlsState::kRefused);
  EXPECT_FALSE(client.open());
}

TEST(TlsStrangersTest, AClientWithoutAKeyIsRefused) {
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  Stranger client(TlsRole::kClient, TLS1_3_VERSION);
  meet(server, client);
  EXPECT_EQ(server.state(), TlsState::kRefused);
  EXPECT_EQ(server.complaint(), "it does not know the secret of this job");
  EXPECT_FALSE(client.open());
}

TEST(TlsStrangersTest, AServerWithACertificateInsteadOfTheKeyIsRefused) {
  TlsSession client(key_of(kSecret), TlsRole::kClient);
  Stranger server(TlsRole::kServer, TLS1_3_VERSION);
  Certificate certificate = make_certificate();
  SSL_CTX_use_certificate(server.context(), certificate.text.get());
  SSL_CTX_use_PrivateKey(server.context(), certificate.key.get());
  meet(client, server);
  EXPECT_EQ(client.state(), TlsState::kRefused);
  EXPECT_EQ(client.complaint(), "it does not know the secret of this job");
  EXPECT_FALSE(server.open());
}

TEST(TlsStrangersTest, AClientThatWantsNoFreshKeysIsRefused) {  // psk_ke: no forward secrecy
  TlsSession server(key_of(kSecret), TlsRole::kServer);
  Stranger client(TlsRole::kClient, TLS1_3_VERSION);
  SSL_CTX_set_options(client.context(), SSL_OP_ALLOW_NO_DHE_KEX);
  SSL_CTX_set1_groups_list(client.context(), "ffdhe2048");  // no group in common
  SSL_CTX_set_psk_use_session_callback(client.context(), offer<1>);
  meet(server, client);
  EXPECT_EQ(server.state(), TlsState::kRefused);
  EXPECT_FALSE(client.open());
}

}  // namespace
}  // namespace terrane::stream
